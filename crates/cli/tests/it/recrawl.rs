//! A second crawl of the same pages asks conditionally and remembers what the first one saw.

use trawl_testweb::WebSpec;

use crate::harness::{Trawl, Web, place};

#[test]
fn unchanged_pages_are_not_sent_again_and_still_lead_on() {
    let (_folder, database) = place();
    let spec = WebSpec {
        validators: true,
        ..WebSpec::many_hosts(3, 60)
    };
    let web = Web::start(spec);
    let crawl = || {
        let call = Trawl::crawl(&database, "0").args(["--scope", "any"]);
        call.arg(web.url(0, "/")).run().expect_code(0)
    };
    let first = crawl();
    assert!(first.json_lines().iter().all(|r| r["outcome"] == "fetched"));
    web.log().clear();
    web.touch(7);
    let second = crawl().json_lines();
    assert_eq!(
        second.len(),
        60,
        "every page is found again by its old links"
    );
    for record in &second {
        let page = web.page_of(record["url"].as_str().unwrap()).unwrap();
        let expected = match page {
            7 => ("fetched", 200),
            _ => ("not_modified", 304),
        };
        assert_eq!(record["outcome"], expected.0, "{record}");
        assert_eq!(record["status_code"], expected.1, "{record}");
    }
    for request in web.log().entries() {
        assert_ne!(request.path(), "/robots.txt", "it is known for a day");
        assert!(request.if_none_match.is_some() || request.if_modified_since.is_some());
    }
    // Both crawls are there, each with its own results.
    let status = Trawl::on("status", &database).arg("--json").run();
    let status = status.expect_code(0).json_lines();
    assert_eq!(status.len(), 2);
    assert_eq!(status[1]["counts"]["outcomes"]["not_modified"], 59);
    let export = Trawl::on("export", &database).arg("1").run().expect_code(0);
    assert_eq!(export.json_lines().len(), 60);
}
