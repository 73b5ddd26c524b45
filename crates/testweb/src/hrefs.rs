//! How a link is spelled: relative, root-relative or absolute, with a fragment, a tracking
//! parameter or an upper-case host, always meaning exactly one page.

use std::fmt::Write as _;

use crate::paths::push_path;
use crate::prng::Prng;

/// What the links of a page are written for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Linking<'a> {
    /// `http` or `https`.
    pub(crate) scheme: &'static str,
    /// Port of that scheme's listener.
    pub(crate) port: u16,
    /// False where the client used an address or a foreign name: links that stay on the site are
    /// then never absolute, so that they stay on that authority.
    pub(crate) named: bool,
    /// Whether unusual spellings are used at all.
    pub(crate) variants: bool,
    /// Name of the host that the link leads to.
    pub(crate) target_host: &'a str,
}

/// Appends the value of an href, escaped for an attribute in double quotes.
/// `from` and `to` are page numbers on their hosts; `None` for `from` means another host.
pub(crate) fn push_href(
    out: &mut String,
    linking: Linking<'_>,
    from: Option<u32>,
    to: u32,
    prng: &mut Prng,
) {
    let dice = prng.below(100);
    match from {
        None => push_absolute(out, linking, to, dice.is_multiple_of(10)),
        Some(_) if dice < 20 && linking.named => push_absolute(out, linking, to, dice < 4),
        Some(local) if dice < 50 => push_relative(out, local, to),
        Some(_) => push_path(out, to),
    }
    if linking.variants {
        push_ending(out, prng);
    }
}

fn push_absolute(out: &mut String, linking: Linking<'_>, to: u32, upper_case: bool) {
    let Linking {
        scheme,
        port,
        target_host,
        ..
    } = linking;
    if upper_case && linking.variants {
        let (scheme, host) = (
            scheme.to_ascii_uppercase(),
            target_host.to_ascii_uppercase(),
        );
        let _ = write!(out, "{scheme}://{host}:{port}");
    } else {
        let _ = write!(out, "{scheme}://{target_host}:{port}");
    }
    push_path(out, to);
}

/// Parts of a query or fragment that do not change which page is meant.
fn push_ending(out: &mut String, prng: &mut Prng) {
    match prng.below(40) {
        0 => out.push_str("?utm_source=newsletter"),
        1 => out.push_str("?utm_source=feed&amp;utm_medium=rss"),
        2..=4 => {
            let _ = write!(out, "#part-{}", prng.below(9));
        }
        _ => {}
    }
}

/// A path relative to the page it stands on: `/p/4` from `/p/9` is `4`.
fn push_relative(out: &mut String, from: u32, to: u32) {
    let (mut here, mut there) = (String::new(), String::new());
    push_path(&mut here, from);
    push_path(&mut there, to);
    let common = common_directories(&here, &there);
    let ups = here.get(common..).unwrap_or("").matches('/').count();
    let rest = there.get(common..).unwrap_or("");
    if ups == 0 {
        // An empty reference would mean the page itself.
        out.push_str("./");
    }
    for _ in 0..ups {
        out.push_str("../");
    }
    out.push_str(rest);
}

/// Length of the shared leading directories, with their last slash.
fn common_directories(a: &str, b: &str) -> usize {
    let same = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    a.get(..same)
        .and_then(|shared| shared.rfind('/'))
        .map_or(0, |slash| slash + 1)
}

#[cfg(test)]
mod tests {
    use super::push_relative;

    fn relative(from: u32, to: u32) -> String {
        let mut out = String::new();
        push_relative(&mut out, from, to);
        out
    }

    #[test]
    fn relative_links_lead_where_they_should() {
        assert_eq!(relative(1, 2), "./2");
        assert_eq!(relative(0, 2), "./p/2");
        assert_eq!(relative(2, 0), "../");
        assert_eq!(relative(2, 7), "../docs/section-0/page-7.html");
        assert_eq!(relative(7, 207), "./page-207.html");
        assert_eq!(relative(7, 17), "../section-1/page-17.html");
        assert_eq!(relative(17, 3), "../../p/3");
    }
}
