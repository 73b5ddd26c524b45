//! What a terminal may be shown: titles come from the web, and a control character in one could
//! change colours, the window's name or what was written before.

use std::io::{self, Write};

/// The first of the two bytes of the control characters U+0080 to U+009F.
const C1: u8 = 0xc2;
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// Passes text on without control characters other than line ends and tabs.
pub(super) struct Tame<W> {
    to: W,
    /// The last byte so far may begin a control character.
    began: bool,
}

impl<W: Write> Tame<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to, began: false }
    }

    fn pass(&mut self, out: &mut Vec<u8>, byte: u8) {
        if std::mem::take(&mut self.began) {
            if (0x80..=0x9f).contains(&byte) {
                return out.extend_from_slice(REPLACEMENT);
            }
            out.push(C1);
        }
        match byte {
            C1 => self.began = true,
            b'\n' | b'\t' => out.push(byte),
            byte if byte.is_ascii_control() => out.extend_from_slice(REPLACEMENT),
            byte => out.push(byte),
        }
    }
}

impl<W: Write> Write for Tame<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.pass(&mut out, *byte);
        }
        self.to.write_all(&out)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced_wherever_writes_are_cut() {
        let text = "a\x1b[2J\u{9b}31m\x7f\r\u{85}é\u{a0}\t\n".as_bytes();
        let tame = "a\u{fffd}[2J\u{fffd}31m\u{fffd}\u{fffd}\u{fffd}é\u{a0}\t\n";
        for cut in 0..=text.len() {
            let mut out = Vec::new();
            let mut terminal = Tame::new(&mut out);
            terminal.write_all(&text[..cut]).unwrap();
            terminal.write_all(&text[cut..]).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), tame, "cut at {cut}");
        }
    }
}
