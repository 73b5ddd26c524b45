//! Bytes to directives. Files are written by hand and served by anything: no line is an error.

/// A line that means something; values are trimmed and have no comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive<'a> {
    UserAgent(&'a [u8]),
    Allow(&'a [u8]),
    Disallow(&'a [u8]),
    CrawlDelay(&'a [u8]),
    Sitemap(&'a [u8]),
}

/// The directives of a file with their line numbers, counted from 1.
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    number: u32,
}

impl<'a> Lines<'a> {
    /// Reads at most `limit` bytes. A line that the limit cuts is dropped: half of
    /// `Disallow: /private` may be `Disallow: /`.
    pub(super) fn new(bytes: &'a [u8], limit: usize) -> Self {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let rest = match bytes.get(..limit) {
            Some(head) if bytes.len() > limit && !is_end(bytes[limit]) => {
                let whole = head.iter().rposition(|b| is_end(*b)).unwrap_or(0);
                &head[..whole]
            }
            Some(head) => head,
            None => bytes,
        };
        Self { rest, number: 0 }
    }

    fn next_line(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.number = self.number.saturating_add(1);
        let end = memchr::memchr2(b'\n', b'\r', self.rest).unwrap_or(self.rest.len());
        let (line, tail) = self.rest.split_at(end);
        self.rest = match tail {
            [b'\r', b'\n', after @ ..] | [_, after @ ..] => after,
            [] => tail,
        };
        Some(line)
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (u32, Directive<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.next_line()?;
            if let Some(directive) = directive(line) {
                return Some((self.number, directive));
            }
        }
    }
}

fn is_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn directive(line: &[u8]) -> Option<Directive<'_>> {
    let end = memchr::memchr(b'#', line).unwrap_or(line.len());
    let line = line[..end].trim_ascii();
    let (key, value) = match memchr::memchr(b':', line) {
        Some(colon) => (
            line[..colon].trim_ascii_end(),
            line[colon + 1..].trim_ascii(),
        ),
        None => without_colon(line)?,
    };
    let mut lower = [0; 16];
    let lower = lower.get_mut(..key.len())?;
    lower.copy_from_slice(key);
    lower.make_ascii_lowercase();
    Some(match &*lower {
        b"user-agent" | b"useragent" | b"user agent" => Directive::UserAgent(value),
        b"allow" => Directive::Allow(value),
        // Spelling mistakes that are common enough to be obeyed elsewhere as well.
        b"disallow" | b"dissallow" | b"dissalow" | b"disalow" | b"diasllow" | b"disallaw" => {
            Directive::Disallow(value)
        }
        b"crawl-delay" | b"crawldelay" => Directive::CrawlDelay(value),
        b"sitemap" | b"site-map" if !value.is_empty() => Directive::Sitemap(value),
        _ => return None,
    })
}

/// `Disallow /x`: two words and a forgotten colon.
fn without_colon(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let gap = line.iter().position(u8::is_ascii_whitespace)?;
    let value = line[gap..].trim_ascii();
    (!value.iter().any(u8::is_ascii_whitespace)).then_some((&line[..gap], value))
}

/// The product name at the start of an agent's text: `Foo` of `Foo/1.0 (+x)`.
pub(super) fn product(name: &[u8]) -> &[u8] {
    let end = name
        .iter()
        .position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')))
        .unwrap_or(name.len());
    &name[..end]
}

/// `*`, also with words behind it.
pub(super) fn is_star(name: &[u8]) -> bool {
    matches!(name, [b'*'] | [b'*', b' ' | b'\t', ..])
}
