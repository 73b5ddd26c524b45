//! Where a page lives: page number to host and path, and back, by arithmetic alone.
//! Not for scripted paths or robots.txt.

use std::fmt::Write as _;

/// The layout of pages over hosts: page `i` is number `i / hosts` of host `i % hosts`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) hosts: u32,
    pub(crate) pages: u32,
}

impl Layout {
    pub(crate) fn host(self, page: u32) -> u32 {
        page % self.hosts
    }

    /// Number of the page on its host; 0 is the host's front page.
    pub(crate) fn local(self, page: u32) -> u32 {
        page / self.hosts
    }

    /// Pages that a host has.
    pub(crate) fn pages_on(self, host: u32) -> u32 {
        self.pages / self.hosts + u32::from(host < self.pages % self.hosts)
    }

    /// The page with this number on this host, if there is one.
    pub(crate) fn page(self, host: u32, local: u32) -> Option<u32> {
        (host < self.hosts && local < self.pages_on(host)).then(|| local * self.hosts + host)
    }

    /// The page behind a path, without its query.
    pub(crate) fn find(self, host: u32, path: &str) -> Option<u32> {
        self.page(host, local_of(path)?)
    }
}

/// Every tenth page has the shape of a document in a section, the others are short.
fn in_a_section(local: u32) -> bool {
    local % 10 == 7
}

/// The path of a page.
pub(crate) fn path_of(local: u32) -> String {
    let mut path = String::with_capacity(32);
    push_path(&mut path, local);
    path
}

pub(crate) fn push_path(out: &mut String, local: u32) {
    // Writing to a string cannot fail.
    let _ = match local {
        0 => out.write_str("/"),
        n if in_a_section(n) => write!(out, "/docs/section-{}/page-{n}.html", section_of(n)),
        n => write!(out, "/p/{n}"),
    };
}

pub(crate) fn section_of(local: u32) -> u32 {
    local / 10 % 20
}

fn local_of(path: &str) -> Option<u32> {
    if path == "/" {
        return Some(0);
    }
    if let Some(digits) = path.strip_prefix("/p/") {
        return plain_number(digits).filter(|&n| n != 0 && !in_a_section(n));
    }
    let (section, page) = path.strip_prefix("/docs/section-")?.split_once('/')?;
    let local = plain_number(page.strip_prefix("page-")?.strip_suffix(".html")?)?;
    (in_a_section(local) && plain_number(section)? == section_of(local)).then_some(local)
}

/// A number in its only spelling, so that no page has two paths.
fn plain_number(digits: &str) -> Option<u32> {
    let canonical = digits.len() == 1 || !digits.starts_with('0');
    let all_digits = digits.bytes().all(|b| b.is_ascii_digit());
    (canonical && all_digits)
        .then(|| digits.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::{Layout, path_of};

    #[test]
    fn every_page_is_found_again_by_its_host_and_path() {
        let layout = Layout {
            hosts: 7,
            pages: 1003,
        };
        for page in 0..layout.pages {
            let path = path_of(layout.local(page));
            assert_eq!(layout.find(layout.host(page), &path), Some(page), "{path}");
        }
        let total: u32 = (0..7).map(|host| layout.pages_on(host)).sum();
        assert_eq!(total, 1003);
    }

    #[test]
    fn other_spellings_of_a_path_are_not_pages() {
        let layout = Layout {
            hosts: 1,
            pages: 100,
        };
        for path in [
            "/p/0",
            "/p/01",
            "/p/7",
            "/p/100",
            "/p/+1",
            "/p/",
            "/docs/section-3/page-7.html",
            "",
        ] {
            assert_eq!(layout.find(0, path), None, "{path}");
        }
    }
}
