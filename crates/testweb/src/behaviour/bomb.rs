//! Decompression bombs: hundreds of megabytes of spaces in a few kilobytes.
//! Deflate bombs repeat one flushed block, so that no time is spent on compressing.

use std::io::{self, Write};

use flate2::{Compress, Compression, Crc, FlushCompress};

use super::encoding::Coding;

const MEGABYTE: usize = 1 << 20;
const FILL: u8 = b' ';

/// A body that unpacks to the given number of megabytes.
pub(super) fn build(coding: Coding, megabytes: u32) -> io::Result<Vec<u8>> {
    match coding {
        Coding::RawDeflate => deflate_blocks(megabytes),
        Coding::Gzip => gzip(megabytes),
        Coding::Zlib => zlib(megabytes),
        Coding::Zstd => {
            let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1)?;
            write_megabytes(&mut encoder, megabytes)?;
            encoder.finish()
        }
        Coding::Brotli => {
            let mut out = Vec::new();
            let mut encoder = brotli::CompressorWriter::new(&mut out, 1 << 16, 2, 22);
            write_megabytes(&mut encoder, megabytes)?;
            drop(encoder);
            Ok(out)
        }
    }
}

fn write_megabytes(out: &mut impl Write, megabytes: u32) -> io::Result<()> {
    let block = vec![FILL; MEGABYTE];
    (0..megabytes).try_for_each(|_| out.write_all(&block))
}

/// A flushed block ends on a byte and refers to nothing before it: it can be repeated.
fn deflate_blocks(megabytes: u32) -> io::Result<Vec<u8>> {
    let mut compress = Compress::new(Compression::best(), false);
    let mut block = Vec::with_capacity(64 * 1024);
    let plain = vec![FILL; MEGABYTE];
    compress
        .compress_vec(&plain, &mut block, FlushCompress::Full)
        .map_err(io::Error::other)?;
    if compress.total_in() != MEGABYTE as u64 {
        return Err(io::Error::other("the block did not fit"));
    }
    let mut out = block.repeat(megabytes as usize);
    // An empty final block with fixed codes.
    out.extend_from_slice(&[0x03, 0x00]);
    Ok(out)
}

fn gzip(megabytes: u32) -> io::Result<Vec<u8>> {
    let mut crc = Crc::new();
    let plain = vec![FILL; MEGABYTE];
    (0..megabytes).for_each(|_| crc.update(&plain));
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff];
    out.extend(deflate_blocks(megabytes)?);
    out.extend(crc.sum().to_le_bytes());
    out.extend(crc.amount().to_le_bytes());
    Ok(out)
}

fn zlib(megabytes: u32) -> io::Result<Vec<u8>> {
    let mut out = vec![0x78, 0xda];
    out.extend(deflate_blocks(megabytes)?);
    out.extend(adler_of_fill(u128::from(megabytes) * MEGABYTE as u128).to_be_bytes());
    Ok(out)
}

/// Adler-32 of `count` equal bytes, in closed form.
fn adler_of_fill(count: u128) -> u32 {
    let fill = u128::from(FILL);
    let a = (1 + count * fill) % 65_521;
    let b = (count + fill * (count * (count + 1) / 2)) % 65_521;
    (b << 16 | a) as u32
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::{Coding, FILL, MEGABYTE, build};

    fn unpack(coding: Coding, packed: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        match coding {
            Coding::Gzip => flate2::read::GzDecoder::new(packed).read_to_end(&mut out),
            Coding::Zlib => flate2::read::ZlibDecoder::new(packed).read_to_end(&mut out),
            Coding::RawDeflate => flate2::read::DeflateDecoder::new(packed).read_to_end(&mut out),
            Coding::Brotli => brotli::Decompressor::new(packed, 4096).read_to_end(&mut out),
            Coding::Zstd => zstd::stream::read::Decoder::new(packed)
                .unwrap()
                .read_to_end(&mut out),
        }
        .unwrap();
        out
    }

    #[test]
    fn bombs_are_small_valid_and_unpack_to_their_size() {
        for coding in Coding::ALL {
            let packed = build(coding, 3).unwrap();
            assert!(packed.len() < 8192, "{coding:?}: {}", packed.len());
            let plain = unpack(coding, &packed);
            assert_eq!(plain.len(), 3 * MEGABYTE, "{coding:?}");
            assert!(plain.iter().all(|&byte| byte == FILL));
        }
    }

    #[test]
    fn whole_bodies_unpack_to_what_was_packed() {
        for coding in Coding::ALL {
            let packed = coding.encode(b"some text, some text").unwrap();
            assert_eq!(unpack(coding, &packed), b"some text, some text");
        }
    }
}
