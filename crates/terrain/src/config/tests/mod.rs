//! What a configuration may say, and what is said about one that may not.

mod meaning;

use proptest::prelude::*;
use trawl_types::spec::UserAgent;

use super::*;

const QUALITY: &str = "[[quality]]\ndomain = \"a.org\"\nseeds = [\"https://a.org/\"]\n";

/// The example of the document, word for word.
const DOCUMENTED: &str = r#"
[crawler]
max-depth = 3
max-concurrent-pages-open = 10
minimum-time-on-page = 1000          # milliseconds between requests to same domain
max-domain-requests = 500            # per run, per domain

[user-agent]
crawler-name = "SumiRipple"
crawler-version = "1.0"
contact-url = "https://example.com/about-our-crawler"
contact-email = "crawler-admin@example.com"

[output]
database-path = "./sumi-ripple.db"
summary-path = "./crawl-summary.md"

[[quality]]
domain = "example.com"
seeds = [
    "https://example.com/",
    "https://example.com/blog/"
]

[[quality]]
domain = "*.another-site.org"        # Wildcard: matches all subdomains
seeds = [
    "https://blog.another-site.org/",
    "https://docs.another-site.org/getting-started"
]

[[blacklist]]
domain = "ads.example.net"

[[blacklist]]
domain = "*.tracking-service.com"    # Wildcard supported

[[stub]]
domain = "github.com"                # We want to know what repos are linked
"#;

fn problems(text: &str) -> Vec<Problem> {
    parse("map.toml", text).unwrap_err().problems
}

/// The only problem of a text that begins with a good quality entry in lines 1 to 3.
fn problem(rest: &str) -> Problem {
    let mut found = problems(&format!("{QUALITY}{rest}"));
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

#[test]
fn the_documented_example_is_read_in_full() {
    let config = parse("map.toml", DOCUMENTED).unwrap();
    assert_eq!(config.crawler, CrawlerConfig::default());
    assert_eq!(config.output.database_path, "./sumi-ripple.db");
    assert_eq!(config.quality[1].domain, "*.another-site.org");
    assert_eq!(config.quality[1].seeds.len(), 2);
    assert_eq!(
        config.blacklist,
        ["ads.example.net", "*.tracking-service.com"]
    );
    assert_eq!(config.stub, ["github.com"]);
    let header = config.to_spec(Vec::new()).fetch.user_agent.header();
    let documented =
        "SumiRipple/1.0 (+https://example.com/about-our-crawler; crawler-admin@example.com)";
    assert_eq!(header, documented);
}

#[test]
fn the_sample_is_valid_and_says_the_defaults() {
    let config = parse("sample", SAMPLE).unwrap();
    assert_eq!(config.crawler, CrawlerConfig::default());
    assert_eq!(config.network, NetworkConfig::default());
    assert_eq!(config.output, OutputConfig::default());
    assert_eq!(config.user_agent.crawler_name, UserAgent::default().name);
    assert!(config.to_spec(Vec::new()).validate().is_ok());
}

#[test]
fn the_fields_the_sample_leaves_out_are_valid_too() {
    let mut all = String::new();
    for line in SAMPLE.lines() {
        let field = line.strip_prefix("# ").filter(|rest| {
            rest.starts_with('[')
                || rest
                    .split_once(" = ")
                    .is_some_and(|(k, _)| !k.contains(' '))
        });
        all += field.unwrap_or(line);
        all.push('\n');
    }
    let config = parse("sample", &all).unwrap();
    assert_eq!(config.network.allow_ports, [8000]);
    assert_eq!(config.network.resolve, ["intranet.example=10.1.2.3"]);
    assert!(config.user_agent.contact_email.is_some());
}

#[test]
fn a_quality_entry_is_all_that_is_needed() {
    let config = parse("map.toml", QUALITY).unwrap();
    assert_eq!(config.crawler, CrawlerConfig::default());
    assert_eq!(problems("")[0].field, "quality");
    assert_eq!(problems("[crawler]\nmax-depth = 1\n")[0].field, "quality");
}

#[test]
fn a_wrong_value_is_named_with_its_place_and_what_is_allowed() {
    let found = problem("[crawler]\nmax-concurrent-pages-open = 101\n");
    assert_eq!((found.line, found.column), (5, 29));
    assert_eq!(found.field, "crawler.max-concurrent-pages-open");
    assert_eq!(found.found, "101");
    assert_eq!(found.allowed, "a whole number from 1 to 100");
}

#[test]
fn limits_of_the_document_hold() {
    for line in [
        "max-depth = -1",
        "max-depth = \"3\"",
        "max-depth = 1.5",
        "max-concurrent-pages-open = 0",
        "minimum-time-on-page = 99",
        "max-domain-requests = 0",
        "max-domain-requests = 99999999999999999999999",
        "head = \"sometimes\"",
        "robots-unreachable = true",
    ] {
        let found = problem(&format!("[crawler]\n{line}\n"));
        assert_eq!(found.line, 5, "{line}");
        assert!(line.starts_with(found.field.trim_start_matches("crawler.")));
    }
    for line in [
        "max-depth = 0",
        "max-depth = 0x10",
        "minimum-time-on-page = 100",
    ] {
        let text = format!("{QUALITY}[crawler]\n{line}\n");
        assert!(parse("map.toml", &text).is_ok(), "{line}");
    }
}

#[test]
fn who_we_are_must_fit_a_header() {
    for line in [
        "crawler-name = \"\"",
        "crawler-name = \"My Crawler\"",
        "crawler-name = \"a/b\"",
        "crawler-version = \"1 0\"",
        "contact-url = \"about us\"",
        "contact-url = \"ftp://a.org/\"",
        "contact-email = \"nobody\"",
        "contact-email = \"a@b@c.org\"",
        "contact-email = \"a@*.org\"",
        "contact-email = \"a b@c.org\"",
    ] {
        assert_eq!(
            problem(&format!("[user-agent]\n{line}\n")).line,
            5,
            "{line}"
        );
    }
}

#[test]
fn unknown_keys_are_errors_with_a_suggestion() {
    let found = problem("[crawler]\nmax_depth = 2\n");
    assert_eq!(found.hint.as_deref(), Some("did you mean max-depth?"));
    assert_eq!((found.line, found.column), (5, 1));
    let found = problem("[crawlers]\n");
    assert_eq!(found.hint.as_deref(), Some("did you mean crawler?"));
    let found = problem("[[blacklist]]\ndomain = \"b.org\"\nseeds = []\n");
    assert_eq!(found.field, "blacklist[1].seeds");
}

#[test]
fn all_problems_are_reported_in_the_order_of_the_file() {
    let text = "[crawler]\nmax-depth = \"x\"\nmaxdepth = 1\n[[quality]]\nseeds = [1]\n\
                [[stub]]\ndomain = \"a b\"\n[network]\nallow-ports = [0]\n";
    let lines: Vec<usize> = problems(text).iter().map(|p| p.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 5, 7, 9]);
}

#[test]
fn text_that_is_no_toml_is_named_with_its_line() {
    let found = problems(&format!(
        "{QUALITY}[crawler]\nmax-depth = \n\nhead = auto\n"
    ));
    let lines: Vec<usize> = found.iter().map(|p| p.line).collect();
    assert_eq!(lines, [5, 7], "{found:#?}");
}

#[test]
fn a_table_where_a_list_of_tables_is_meant_is_explained() {
    let found = problem("[stub]\ndomain = \"b.org\"\n");
    assert_eq!(
        found.allowed,
        "entries, each with a line [[stub]] of its own"
    );
    let found = problem("[[crawler]]\nmax-depth = 1\n");
    assert_eq!(found.field, "crawler");
}

#[test]
fn seeds_must_be_https_and_lie_in_their_domain() {
    let entry = |seed: &str| {
        let text = format!("[[quality]]\ndomain = \"a.org\"\nseeds = [{seed}]\n");
        problems(&text).remove(0)
    };
    assert_eq!(entry("").found, "no seed");
    assert!(entry("\"http://a.org/\"").allowed.contains("upgrade-https"));
    assert!(entry("\"a.org\"").allowed.contains("whole https URL"));
    assert!(
        entry("\"mailto:a@a.org\"")
            .allowed
            .contains("whole https URL")
    );
    assert!(entry("\"https://b.org/\"").hint.unwrap().contains("b.org"));
    assert!(
        entry("\"https://x.a.org/\"")
            .hint
            .unwrap()
            .contains("*.a.org")
    );
    let secret = parse(
        "m",
        "[[quality]]\ndomain = \"a.org\"\nseeds = [\"https://u:pw@a.org/\"]\n",
    );
    assert!(!secret.unwrap_err().to_string().contains("pw"));
}

#[test]
fn http_seeds_are_allowed_where_nothing_is_upgraded() {
    let text = "[network]\nupgrade-https = false\n[[quality]]\ndomain = \"a.test\"\n\
                seeds = [\"http://a.test:8000/\", \"https://www.a.test/\"]\n";
    let spec = parse("map.toml", text).unwrap().to_spec(Vec::new());
    assert!(!spec.normalise.upgrade_https);
    assert_eq!(spec.seeds[0], "http://a.test:8000/");
}

#[test]
fn a_domain_in_two_lists_names_both_lines() {
    let found = problem("[[stub]]\ndomain = \"www.A.org\"\n");
    assert_eq!(found.line, 2, "the list that is read last names the other");
    assert!(found.found.contains("line 5"), "{}", found.found);
    let found = problem("[[stub]]\ndomain = \"b.org\"\n[[stub]]\ndomain = \"b.org\"\n");
    assert_eq!(found.line, 7);
}

#[test]
fn wildcards_may_overlap_unless_they_shut_out_a_seed() {
    let text = format!("{QUALITY}[[stub]]\ndomain = \"wiki.a.org\"\n");
    assert!(parse("map.toml", &text).is_ok());
    let found = problem("[[blacklist]]\ndomain = \"*.a.org\"\n");
    assert!(found.found.contains("line 5"), "{}", found.found);
}

#[test]
fn networks_ports_and_proxies_are_checked_and_secrets_not_shown() {
    for line in [
        "allow-networks = [\"10.0.0.0/99\"]",
        "resolve = [\"a.org\"]",
        "resolve = [\"a.org=somewhere\"]",
        "allow-ports = [70000]",
        "allow-ports = 80",
        "upgrade-https = \"no\"",
        "extra-root-files = [\"\"]",
    ] {
        assert_eq!(problem(&format!("[network]\n{line}\n")).line, 5, "{line}");
    }
    let text = format!("{QUALITY}[network]\nproxy = \"ftp://me:secret@proxy\"\n");
    let shown = parse("map.toml", &text).unwrap_err().to_string();
    assert!(
        shown.contains("network.proxy") && !shown.contains("secret"),
        "{shown}"
    );
}

#[test]
fn errors_read_well_on_a_terminal() {
    let text = format!("{QUALITY}[crawler]\nmax_depth = 2\nhead = \"allways\"\n");
    let shown = parse("map.toml", &text).unwrap_err().to_string();
    let expected = r#"map.toml:5:1: crawler.max_depth: found an unknown key; allowed: max-depth, max-concurrent-pages-open, minimum-time-on-page, max-domain-requests, robots-unreachable, head
   |
 5 | max_depth = 2
   | ^^^^^^^^^
   help: did you mean max-depth?

map.toml:6:8: crawler.head: found "allways"; allowed: "auto", "always", "never"
   |
 6 | head = "allways"
   |        ^^^^^^^^^
   help: did you mean "always"?

2 problems in map.toml"#;
    assert_eq!(shown, expected);
}

proptest! {
    #[test]
    fn no_text_is_too_strange_to_be_told_what_is_wrong_with_it(text in any::<String>()) {
        if let Err(errors) = parse("map.toml", &text) {
            prop_assert!(!errors.problems.is_empty());
            prop_assert!(errors.to_string().starts_with("map.toml:"));
        }
    }

    #[test]
    fn a_sample_with_a_piece_missing_is_read_or_explained(
        start in 0..SAMPLE.len(), length in 1usize..40
    ) {
        let end = (start + length).min(SAMPLE.len());
        let text = format!("{}{}", &SAMPLE[..start], &SAMPLE[end..]);
        let lines = text.lines().count();
        match parse("map.toml", &text) {
            Ok(config) => prop_assert!(config.to_spec(Vec::new()).validate().is_ok()),
            Err(errors) => for problem in errors.problems {
                prop_assert!((1..=lines + 1).contains(&problem.line), "{}", problem);
            }
        }
    }
}
