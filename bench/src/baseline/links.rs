//! Two ways to find links, both collecting the addresses as they are written.

use std::{cell::RefCell, rc::Rc};

use lol_html::{HtmlRewriter, Settings, element};
use memchr::{memchr, memmem};

use crate::args::Finder;

/// Collects the links of a page and says how many there were.
pub(crate) fn count(page: &[u8], finder: Finder) -> anyhow::Result<usize> {
    Ok(match finder {
        Finder::LolHtml => with_lol_html(page)?.len(),
        Finder::ByteScan => by_bytes(page).len(),
    })
}

fn with_lol_html(page: &[u8]) -> anyhow::Result<Vec<String>> {
    let links = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&links);
    let handler = element!("a[href]", move |element| {
        sink.borrow_mut().extend(element.get_attribute("href"));
        Ok(())
    });
    let settings = Settings::new().append_element_content_handler(handler);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    rewriter.write(page)?;
    rewriter.end()?;
    Ok(links.take())
}

/// The first `href=` within each `<a `: knows neither comments nor scripts nor `>` in attributes.
fn by_bytes(page: &[u8]) -> Vec<&[u8]> {
    memmem::find_iter(page, b"<a ")
        .filter_map(|start| {
            let tag = page.get(start..)?;
            let tag = tag.get(..memchr(b'>', tag)?)?;
            let value = tag.get(memmem::find(tag, b"href=")? + 5..)?;
            match value.first()? {
                quote @ (b'"' | b'\'') => value.get(1..)?.split(|byte| byte == quote).next(),
                _ => Some(value),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::count;
    use crate::args::Finder;

    #[test]
    fn both_find_the_links_of_a_plain_page() {
        let page = br#"<p><a href="/one">1</a> <a class=x href='/two'>2</a> <a name=x>none</a>"#;
        assert_eq!(count(page, Finder::LolHtml).unwrap(), 2);
        assert_eq!(count(page, Finder::ByteScan).unwrap(), 2);
    }
}
