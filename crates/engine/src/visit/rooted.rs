//! Links spelled so that they mean the same on every page of an origin: `4` on `/p/9` is `/p/4`.
//! Pure text; what cannot be told from the text alone is left to the parser of URLs.

use url::Url;

/// Longer links are rare, and a site could fill memory with them.
const LONGEST: usize = 512;

/// The link without its fragment and with the directory of its page in front, in `buffer` where
/// it had to be written anew. `None` if it depends on more than the page's origin, or may.
pub(super) fn rooted<'t>(base: &Url, href: &'t str, buffer: &'t mut String) -> Option<&'t str> {
    let end = memchr::memchr(b'#', href.as_bytes()).unwrap_or(href.len());
    let href = href.get(..end)?;
    if href.len() > LONGEST {
        return None;
    }
    match href.as_bytes().first()? {
        b'/' => return Some(href),
        b'?' | b'\\' => return None,
        _ => {}
    }
    if memchr::memchr(b':', href.as_bytes()).is_some() {
        let absolute = href.starts_with("http://") || href.starts_with("https://");
        return absolute.then_some(href);
    }
    let path = base.path();
    let mut directory = path.get(..=path.rfind('/')?)?;
    let mut rest = href;
    loop {
        if let Some(same) = rest.strip_prefix("./") {
            rest = same;
        } else if let Some(up) = rest.strip_prefix("../") {
            directory = parent(directory)?;
            rest = up;
        } else {
            break;
        }
    }
    if directory.len() > LONGEST {
        return None;
    }
    buffer.clear();
    buffer.push_str(directory);
    buffer.push_str(rest);
    // What begins with two slashes would name a host.
    (!matches!(buffer.as_bytes(), [b'/', b'/' | b'\\', ..])).then_some(buffer.as_str())
}

/// The directory above; the root is above itself.
fn parent(directory: &str) -> Option<&str> {
    let inner = directory.strip_suffix('/')?;
    Some(inner.rfind('/').map_or("/", |slash| &directory[..=slash]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(base: &str, href: &str) -> Option<String> {
        let base = Url::parse(base).unwrap();
        rooted(&base, href, &mut String::new()).map(str::to_owned)
    }

    #[test]
    fn relative_links_get_the_directory_of_their_page() {
        for (base, href, expected) in [
            ("http://a.test/p/9?q#f", "4", "/p/4"),
            ("http://a.test/p/9", "./4?x=1#y", "/p/4?x=1"),
            ("http://a.test/p/q/9", "../4", "/p/4"),
            ("http://a.test/p/9", "../../../4", "/4"),
            ("http://a.test/p//q/9", "../../4", "/p/4"),
            ("http://a.test/p/9", "httpd.html", "/p/httpd.html"),
            ("http://a.test/p/9", "/x", "/x"),
            ("http://a.test/p/9", "//b.test/x", "//b.test/x"),
            ("http://a.test/p/9", "https://b.test/", "https://b.test/"),
        ] {
            assert_eq!(
                of(base, href).as_deref(),
                Some(expected),
                "{href} on {base}"
            );
        }
    }

    #[test]
    fn what_depends_on_more_than_the_origin_is_left_alone() {
        for href in ["", "#x", "?q", "http:x", "mailto:a", "a:b", "\\x", ".//x"] {
            assert_eq!(of("http://a.test/9", href), None, "{href}");
        }
        assert_eq!(of("http://a.test//p/9", "4"), None);
    }

    proptest! {
        #[test]
        fn the_new_spelling_leads_where_the_old_one_did(
            path in "(/|/{1,2}[a-c.%]{0,3}(/[a-c.]{0,3}){0,4})",
            href in "[a-c./\\\\?#:%]{0,12}|\\.\\./[a-c./]{0,8}",
        ) {
            let base = Url::parse(&format!("http://h.test{path}")).unwrap();
            if let Some(new) = rooted(&base, &href, &mut String::new()) {
                let without = |url: Result<Url, _>| url.ok().map(|mut url: Url| {
                    url.set_fragment(None);
                    url
                });
                prop_assert_eq!(without(base.join(new)), without(base.join(&href)));
                let elsewhere = base.join("/x/y/z?q").unwrap();
                prop_assert_eq!(without(elsewhere.join(new)), without(base.join(&href)));
            }
        }
    }
}
