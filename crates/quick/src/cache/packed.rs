//! Large values are compressed. What comes back is bounded, whatever was kept.

use std::io::Read;

/// Shorter ones are not worth it.
const WORTH_IT: usize = 10 * 1024;
const LEVEL: i32 = 1;
/// Bytes of a value as it is used.
const LARGEST: u64 = 32 << 20;

const AS_IT_IS: u8 = 0;
const COMPRESSED: u8 = 1;

pub(super) fn pack(value: &[u8]) -> Vec<u8> {
    if value.len() >= WORTH_IT
        && let Ok(packed) = zstd::bulk::compress(value, LEVEL)
    {
        return [&[COMPRESSED], packed.as_slice()].concat();
    }
    [&[AS_IT_IS], value].concat()
}

pub(super) fn open(kept: &[u8]) -> Option<Vec<u8>> {
    let (kind, value) = kept.split_first()?;
    match *kind {
        AS_IT_IS => Some(value.to_vec()),
        COMPRESSED => {
            let mut opened = Vec::new();
            let decoder = zstd::stream::Decoder::new(value).ok()?;
            decoder.take(LARGEST + 1).read_to_end(&mut opened).ok()?;
            (opened.len() as u64 <= LARGEST).then_some(opened)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_can_be_opened() {
        for length in [0, 1, WORTH_IT - 1, WORTH_IT, 1 << 20] {
            let value = vec![b'x'; length];
            assert_eq!(open(&pack(&value)).unwrap(), value);
        }
        assert!(pack(&vec![b'x'; 1 << 20]).len() < 10_000);
    }

    #[test]
    fn what_is_no_value_or_too_large_is_none() {
        let bomb = zstd::bulk::compress(&vec![0; (LARGEST + 1) as usize], 1).unwrap();
        let bomb = [&[COMPRESSED], bomb.as_slice()].concat();
        for kept in [&b""[..], b"\x02x", b"\x01no zstd", &bomb] {
            assert_eq!(open(kept), None);
        }
    }
}
