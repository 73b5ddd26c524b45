//! A page as HTML: realistic parts, every true link at least once, and things that look like
//! links but are none. Pure: the same page of the same web is always the same bytes.

use std::fmt::Write as _;

use crate::filler::{Filler, push_padding, push_words};
use crate::graph::LinkRule;
use crate::hrefs::{Linking, push_href};
use crate::paths::section_of;
use crate::prng::Prng;
use crate::spec::WebSpec;

/// For whom a page is written: absolute links depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Audience {
    pub(crate) tls: bool,
    pub(crate) named: bool,
}

/// Turns page numbers into HTML.
#[derive(Debug)]
pub(crate) struct Renderer {
    pub(crate) spec: WebSpec,
    pub(crate) rule: LinkRule,
    pub(crate) port: u16,
    pub(crate) tls_port: u16,
    host_names: Vec<String>,
}

/// The links of a page in the part of the page where each stands.
#[derive(Debug, Default)]
struct LinkBlocks {
    header: String,
    nav: String,
    footer: String,
    main: Vec<String>,
}

impl Renderer {
    pub(crate) fn new(spec: WebSpec, port: u16, tls_port: u16) -> Self {
        let host_names = (0..spec.hosts).map(|host| spec.host_name(host)).collect();
        Self {
            rule: LinkRule::new(&spec),
            spec,
            port,
            tls_port,
            host_names,
        }
    }

    /// The HTML of a page; `revision` above 0 marks a page that was changed since.
    pub(crate) fn page(&self, page: u32, audience: Audience, revision: u32) -> String {
        let mut prng = Prng::new(self.spec.seed ^ 0x0068_7465_6d6c, u64::from(page));
        let blocks = self.link_blocks(page, audience, &mut prng);
        let tail = self.tail(page, &blocks);
        let mut out = String::with_capacity(self.spec.page_bytes + 512);
        self.push_head(&mut out, page, revision);
        let _ = write!(
            out,
            "<header>{}</header>\n<nav><ul>{}</ul></nav>\n",
            blocks.header, blocks.nav
        );
        self.push_main(&mut out, page, &blocks.main, tail.len());
        out.push_str(&tail);
        out
    }

    fn push_head(&self, out: &mut String, page: u32, revision: u32) {
        let (host, local) = (self.rule.layout.host(page), self.rule.layout.local(page));
        let _ = write!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Page {local} of site {host}: "
        );
        push_words(out, u64::from(page), 4);
        out.push_str("</title>\n<meta name=\"description\" content=\"On the ");
        push_words(out, u64::from(page) ^ 0xd, 8);
        if revision > 0 {
            let _ = write!(out, ", revision {revision}");
        }
        out.push_str(
            "\">\n<link rel=\"stylesheet\" href=\"/static/site.css\">\n\
             <style>main{background:url(\"/not-a-link/style.png\")}</style>\n\
             <script>var old = '<a href=\"/not-a-link/script\">x</a>'; if (1 < 2 && 3 > 2) { old += '/not-a-link/string'; }</script>\n\
             <script src=\"/static/app.js\" defer></script>\n</head>\n<body>\n",
        );
    }

    fn push_main(&self, out: &mut String, page: u32, links: &[String], tail_bytes: usize) {
        const END: &str = "</main>\n";
        let local = self.rule.layout.local(page);
        let _ = write!(
            out,
            "<main>\n<h1>Page {local}</h1>\n<!-- moved: <a href=\"/not-a-link/comment\">old place</a> -->\n"
        );
        let link_bytes: usize = links.iter().map(String::len).sum();
        let fixed = out.len() + link_bytes + END.len() + tail_bytes;
        let mut budget = self.spec.page_bytes.saturating_sub(fixed);
        let share = budget / (links.len() + 1);
        let filler = if self.spec.rich_markup {
            Filler::rich()
        } else {
            Filler::shared()
        };
        let mut reader = filler.reader(self.spec.seed ^ u64::from(page));
        for (n, link) in links.iter().enumerate() {
            // Paragraphs are longer than one share: what was not used is given to later ones.
            let due = share * (n + 1);
            let spent = self.spec.page_bytes.saturating_sub(fixed) - budget;
            budget -= reader.push_upto(out, due.saturating_sub(spent));
            out.push_str(link);
        }
        budget -= reader.push_upto(out, budget);
        push_padding(out, budget);
        out.push_str(END);
    }

    fn tail(&self, page: u32, blocks: &LinkBlocks) -> String {
        let mut out = String::with_capacity(512);
        let _ = write!(out, "<footer>{}", blocks.footer);
        out.push_str(
            "<a href=\"mailto:info@example.test\">Mail</a> <a href=\"tel:+100200300\">Call</a> \
             <a href=\"javascript:void('/not-a-link/js')\">Top</a> ",
        );
        if page.is_multiple_of(5) {
            out.push_str("<a href=\"/not-a-link/archive.zip\" download>Archive</a> ");
        }
        if let Some(url) = self.external_link(page) {
            let _ = write!(
                out,
                "<a rel=\"noopener external\" href=\"{url}\">Elsewhere</a>"
            );
        }
        out.push_str("</footer>\n</body>\n</html>\n");
        out
    }

    /// The link out of this web, where the description asks for one.
    pub(crate) fn external_link(&self, page: u32) -> Option<String> {
        self.spec
            .external_links
            .then(|| format!("http://outside{}.example/ref/{}", page % 7, page % 50))
    }

    fn link_blocks(&self, page: u32, audience: Audience, prng: &mut Prng) -> LinkBlocks {
        let mut blocks = LinkBlocks::default();
        for (n, target) in self.rule.links(page).into_iter().enumerate() {
            match n % 8 {
                0 => {
                    blocks.nav.push_str("<li>");
                    self.push_anchor(&mut blocks.nav, page, target, audience, prng);
                    blocks.nav.push_str("</li>");
                }
                1 => self.push_anchor(&mut blocks.header, page, target, audience, prng),
                2 => self.push_anchor(&mut blocks.footer, page, target, audience, prng),
                _ => blocks
                    .main
                    .push(self.main_link(page, target, audience, prng)),
            }
        }
        blocks
    }

    /// A paragraph or a figure around a link; one in sixteen names its target twice, in two
    /// spellings, which is still one edge.
    fn main_link(&self, page: u32, target: u32, audience: Audience, prng: &mut Prng) -> String {
        let mut out = String::with_capacity(120);
        let picture = prng.below(12) == 0;
        if picture {
            let _ = writeln!(
                out,
                "<img src=\"/img/{}.png\" alt=\"figure\" width=\"64\" height=\"64\">",
                target % 16
            );
        }
        out.push_str("<p>See ");
        self.push_anchor(&mut out, page, target, audience, prng);
        if prng.below(16) == 0 {
            out.push_str(", also ");
            self.push_anchor(&mut out, page, target, audience, prng);
        }
        out.push_str(".</p>\n");
        out
    }

    fn push_anchor(
        &self,
        out: &mut String,
        page: u32,
        target: u32,
        audience: Audience,
        prng: &mut Prng,
    ) {
        let layout = self.rule.layout;
        let (host, target_host) = (layout.host(page), layout.host(target));
        let linking = Linking {
            scheme: if audience.tls { "https" } else { "http" },
            port: if audience.tls {
                self.tls_port
            } else {
                self.port
            },
            named: audience.named,
            variants: self.spec.spelling_variants,
            target_host: self
                .host_names
                .get(target_host as usize)
                .map_or("", String::as_str),
        };
        let from = (host == target_host).then(|| layout.local(page));
        out.push_str("<a ");
        out.push_str(match prng.below(24) {
            0 => "rel=\"nofollow\" ",
            1 => "class=\"wide\" title=\"a > b\" ",
            _ => "",
        });
        let quote = self.quote(prng);
        let _ = write!(out, "href={quote}");
        push_href(out, linking, from, layout.local(target), prng);
        let _ = write!(out, "{quote}>");
        let section = section_of(layout.local(target));
        push_words(out, u64::from(target) ^ u64::from(section), 3);
        out.push_str("</a> ");
    }

    fn quote(&self, prng: &mut Prng) -> &'static str {
        match prng.below(32) {
            0 | 1 if self.spec.spelling_variants => "'",
            2 if self.spec.spelling_variants => "",
            _ => "\"",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Audience, Renderer};
    use crate::spec::WebSpec;

    const NAMED: Audience = Audience {
        tls: false,
        named: true,
    };

    #[test]
    fn pages_have_exactly_the_size_asked_for() {
        let renderer = Renderer::new(WebSpec::small_site(200).with_page_bytes(20_000), 80, 443);
        for page in 0..200 {
            assert_eq!(renderer.page(page, NAMED, 0).len(), 20_000);
        }
    }

    #[test]
    fn rich_pages_have_the_markup_of_real_ones() {
        let spec = WebSpec {
            rich_markup: true,
            ..WebSpec::small_site(200)
        };
        let spec = spec.with_page_bytes(20_000).with_links(30);
        let renderer = Renderer::new(spec, 80, 443);
        let (mut tags, mut attributes) = (0, 0);
        for page in 0..200 {
            let html = renderer.page(page, NAMED, 0);
            assert_eq!(html.len(), 20_000);
            tags += html.matches('<').count();
            attributes += html.matches("=\"").count();
        }
        let (bytes_a_tag, attributes) = (200 * 20_000 / tags, attributes / 200);
        assert!((46..=56).contains(&bytes_a_tag), "{bytes_a_tag}");
        assert!((195..=245).contains(&attributes), "{attributes}");
    }

    #[test]
    fn pages_are_the_same_bytes_each_time_and_differ_from_each_other() {
        let renderer = Renderer::new(WebSpec::small_site(50), 80, 443);
        assert_eq!(renderer.page(3, NAMED, 0), renderer.page(3, NAMED, 0));
        assert_ne!(renderer.page(3, NAMED, 0), renderer.page(4, NAMED, 0));
        assert_ne!(renderer.page(3, NAMED, 0), renderer.page(3, NAMED, 1));
    }

    #[test]
    fn a_page_asked_for_by_address_never_names_its_own_host() {
        let renderer = Renderer::new(WebSpec::small_site(500), 8080, 443);
        let by_address = Audience {
            tls: false,
            named: false,
        };
        for page in 0..500 {
            let html = renderer.page(page, by_address, 0).to_ascii_lowercase();
            assert!(!html.contains("site0.test"));
        }
    }
}
