//! Bytes to text, with the encoding decided as browsers decide it: byte order mark, `Content-Type`
//! header, declaration in the document, and where nobody says, a look at the bytes.
//!
//! Unlike browsers it takes undeclared text for UTF-8 wherever it is valid UTF-8.

mod declared;
mod prescan;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

/// What decided the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharsetSource {
    /// A byte order mark.
    Bom,
    /// The `Content-Type` header.
    Header,
    /// `<meta>` or `<?xml encoding?>`.
    Meta,
    /// The bytes themselves.
    Detected,
    /// Nothing: the text is ASCII.
    Default,
}

/// Text, and how it was got from bytes.
#[derive(Clone, Debug)]
pub struct Decoded<'a> {
    /// The text without a byte order mark; borrowed where the bytes are UTF-8 already.
    pub text: Cow<'a, str>,
    /// The encoding's name by the Encoding standard, such as `UTF-8` or `windows-1252`.
    pub encoding: &'static str,
    /// What decided the encoding.
    pub source: CharsetSource,
    /// Whether some bytes had no meaning in the encoding and were replaced.
    pub had_errors: bool,
}

/// How many bytes the detector looks at, from the first one that is not ASCII.
const DETECTION_BYTES: usize = 256 * 1024;

/// Decodes a document. `tld` is the host's last label, which helps to guess.
pub fn decode<'a>(
    bytes: &'a [u8],
    content_type_header: Option<&str>,
    tld: Option<&str>,
) -> Decoded<'a> {
    let (encoding, source, bom_length) = decide(bytes, content_type_header, tld);
    let body = bytes.get(bom_length..).unwrap_or_default();
    let (text, had_errors) = encoding.decode_without_bom_handling(body);
    Decoded {
        text,
        encoding: encoding.name(),
        source,
        had_errors,
    }
}

fn decide(
    bytes: &[u8],
    content_type_header: Option<&str>,
    tld: Option<&str>,
) -> (&'static Encoding, CharsetSource, usize) {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return (encoding, CharsetSource::Bom, length);
    }
    if let Some(encoding) = content_type_header.and_then(declared::from_content_type) {
        return (encoding, CharsetSource::Header, 0);
    }
    if let Some(encoding) = prescan::prescan(bytes) {
        return (encoding, CharsetSource::Meta, 0);
    }
    let (encoding, source) = look_at(bytes, tld);
    (encoding, source, 0)
}

fn look_at(bytes: &[u8], tld: Option<&str>) -> (&'static Encoding, CharsetSource) {
    let first_odd = Encoding::ascii_valid_up_to(bytes);
    if first_odd == bytes.len() {
        return (UTF_8, CharsetSource::Default);
    }
    let odd = bytes.get(first_odd..).unwrap_or_default();
    // A body cut inside a character is still UTF-8.
    if std::str::from_utf8(odd).is_err_and(|error| error.error_len().is_some()) {
        return (guess(odd, tld), CharsetSource::Detected);
    }
    (UTF_8, CharsetSource::Detected)
}

fn guess(bytes: &[u8], tld: Option<&str>) -> &'static Encoding {
    let (looked_at, whole) = match bytes.get(..DETECTION_BYTES) {
        Some(start) => (start, bytes.len() == DETECTION_BYTES),
        None => (bytes, true),
    };
    // ISO-2022-JP without a declaration is refused by browsers: text could hide in ASCII.
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(looked_at, whole);
    let tld = tld.map(str::to_ascii_lowercase);
    // The detector panics on anything but a lower-case ASCII label.
    let usable = |tld: &&String| {
        !tld.is_empty() && tld.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    let label = tld.as_ref().filter(usable).map(String::as_bytes);
    detector.guess(label, Utf8Detection::Allow)
}
