//! The same files read by another parser. Where the two differ on purpose, the generator keeps
//! away: escapes of reserved characters, versions behind agent names, Crawl-delay lines.

use proptest::prelude::*;
use trawl_rules::RobotsRules;
use url::Url;

fn rule() -> impl Strategy<Value = String> {
    let key = prop_oneof!["Allow", "Disallow", "disallow", "ALLOW"];
    let path = prop_oneof![
        4 => "/[ab/.*]{0,6}\\$?",
        1 => Just(String::new()),
        1 => Just("/a%62".to_owned()),
        1 => Just("/ä".to_owned()),
    ];
    (key, path, "[ ]{0,2}(#x)?").prop_map(|(key, path, end)| format!("{key}: {path}{end}"))
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => prop_oneof!["User-agent: \\*", "User-agent: foo", "user-agent: Bar"],
        6 => rule(),
        1 => prop_oneof!["", "# note", "Sitemap: https://e.test/s", "Other: x"],
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn another_parser_agrees(
        lines in prop::collection::vec(line(), 0..12),
        end in prop_oneof!["\n", "\r\n"],
        path in "/[ab/.]{0,8}(\\?[ab]{0,3})?",
    ) {
        let file = lines.join(&end);
        let url = Url::parse(&format!("https://e.test{path}")).unwrap();
        let ours = RobotsRules::parse(file.as_bytes(), "Foo").check(&url).is_allowed();
        let theirs = robotxt::Robots::parse(file.as_bytes(), "Foo").is_url_allowed(&url);
        prop_assert_eq!(ours, theirs, "{} in {:?}", url, file);
    }

    #[test]
    fn no_bytes_make_the_parser_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        path in "/\\PC{0,20}",
    ) {
        let rules = RobotsRules::parse(&bytes, "Foo");
        if let Ok(url) = Url::parse(&format!("https://e.test{path}")) {
            let _ = rules.check(&url);
        }
    }
}
