//! What a page asks of robots, in `<meta name="robots">` and in `X-Robots-Tag`.
//!
//! Records only; whether a request is honoured is for the rules to say.

const MAX_OTHER: usize = 16;
const MAX_OTHER_CHARS: usize = 100;

/// Directives for all crawlers and for ours by name, added up: the stricter one holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetaRobots {
    /// Do not show in results; also set by `none`.
    pub noindex: bool,
    /// Do not follow links; also set by `none`.
    pub nofollow: bool,
    /// Keep no copy.
    pub noarchive: bool,
    /// Show no excerpt.
    pub nosnippet: bool,
    /// Index no images.
    pub noimageindex: bool,
    /// Offer no translation.
    pub notranslate: bool,
    /// Do not use for training models.
    pub noai: bool,
    /// Do not use the images for training models.
    pub noimageai: bool,
    /// The word `none` was used.
    pub none: bool,
    /// Other directives in lower case, such as `max-snippet:-1`; at most 16.
    pub other: Vec<String>,
}

/// The directives as a list, in a fixed order.
impl std::fmt::Display for MetaRobots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let flags = [
            (self.none, "none"),
            (self.noindex && !self.none, "noindex"),
            (self.nofollow && !self.none, "nofollow"),
            (self.noarchive, "noarchive"),
            (self.nosnippet, "nosnippet"),
            (self.noimageindex, "noimageindex"),
            (self.notranslate, "notranslate"),
            (self.noai, "noai"),
            (self.noimageai, "noimageai"),
        ];
        let set = flags.iter().filter(|(set, _)| *set).map(|(_, name)| *name);
        let words: Vec<&str> = set.chain(self.other.iter().map(String::as_str)).collect();
        f.write_str(&words.join(", "))
    }
}

impl MetaRobots {
    /// Adds the directives of a comma-separated list.
    pub fn add(&mut self, directives: &str) {
        for directive in directives.split(',') {
            self.add_one(directive);
        }
    }

    /// Adds what another source asks for.
    pub fn merge(&mut self, other: MetaRobots) {
        self.noindex |= other.noindex;
        self.nofollow |= other.nofollow;
        self.noarchive |= other.noarchive;
        self.nosnippet |= other.nosnippet;
        self.noimageindex |= other.noimageindex;
        self.notranslate |= other.notranslate;
        self.noai |= other.noai;
        self.noimageai |= other.noimageai;
        self.none |= other.none;
        for directive in other.other {
            self.add_other(directive);
        }
    }

    fn add_one(&mut self, directive: &str) {
        let short: String = directive.trim().chars().take(MAX_OTHER_CHARS).collect();
        let word = short.to_ascii_lowercase();
        match word.as_str() {
            "" | "all" | "index" | "follow" => {}
            "noindex" => self.noindex = true,
            "nofollow" => self.nofollow = true,
            "noarchive" | "nocache" => self.noarchive = true,
            "nosnippet" => self.nosnippet = true,
            "noimageindex" => self.noimageindex = true,
            "notranslate" => self.notranslate = true,
            "noai" => self.noai = true,
            "noimageai" => self.noimageai = true,
            "none" => {
                self.none = true;
                self.noindex = true;
                self.nofollow = true;
            }
            _ => self.add_other(word),
        }
    }

    fn add_other(&mut self, directive: String) {
        if self.other.len() < MAX_OTHER && !self.other.contains(&directive) {
            self.other.push(directive);
        }
    }
}

/// Reads one `X-Robots-Tag` value. Directives behind `somebot:` hold for that crawler only, until
/// another name follows; `crawler` is our product name (a `/version` is ignored). Where the header
/// appears several times, read each and [`MetaRobots::merge`] them.
pub fn parse_x_robots_tag(value: &str, crawler: &str) -> MetaRobots {
    let mut robots = MetaRobots::default();
    let mut for_us = true;
    for part in value.split(',') {
        let mut directive = part;
        if let Some((name, rest)) = part.split_once(':')
            && !takes_a_value(name.trim())
        {
            for_us = is_crawler(name, crawler);
            directive = rest;
        }
        if for_us {
            robots.add_one(directive);
        }
    }
    robots
}

/// Whether a name in a page's meta element or header means us.
pub(crate) fn is_crawler(name: &str, crawler: &str) -> bool {
    let product = crawler.split('/').next().unwrap_or_default().trim();
    let name = name.trim();
    name == "*"
        || name.eq_ignore_ascii_case("robots")
        || (!product.is_empty() && name.eq_ignore_ascii_case(product))
}

fn takes_a_value(name: &str) -> bool {
    ["max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"]
        .iter()
        .any(|directive| name.eq_ignore_ascii_case(directive))
        // Not a name at all, but an unavailable_after date up to its clock time.
        || name.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_directives_hold_for_all_crawlers_or_for_the_named_one() {
        let robots = parse_x_robots_tag("NoIndex, nofollow", "trawl");
        assert!(robots.noindex && robots.nofollow && !robots.noarchive);
        let robots =
            parse_x_robots_tag("otherbot: noindex, nofollow, Trawl: noarchive", "trawl/1.0");
        assert!(!robots.noindex && !robots.nofollow && robots.noarchive);
        let robots = parse_x_robots_tag("max-snippet: -1, otherbot: none", "trawl");
        assert_eq!(robots.other, ["max-snippet: -1"]);
        assert!(!robots.none);
    }

    #[test]
    fn a_date_is_not_taken_for_a_crawler_name() {
        let value = "unavailable_after: 25 Jun 2030 15:00:00 PST, noindex";
        assert!(parse_x_robots_tag(value, "trawl").noindex);
        let value = "unavailable_after: Wednesday, 25-Jun-30 15:00:00 PST, noarchive";
        assert!(parse_x_robots_tag(value, "trawl").noarchive);
    }

    #[test]
    fn none_means_both_and_other_directives_are_bounded() {
        let mut robots = MetaRobots::default();
        robots.add("none, noai, noimageai");
        assert!(robots.noindex && robots.nofollow && robots.noai && robots.noimageai);
        for number in 0..100 {
            robots.add(&format!("x{number}"));
        }
        assert_eq!(robots.other.len(), MAX_OTHER);
        let mut merged = MetaRobots::default();
        merged.merge(robots.clone());
        assert_eq!(merged, robots);
    }
}
