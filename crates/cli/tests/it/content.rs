//! What a crawl makes of content: copies and near-duplicates, kept Markdown and text, documents,
//! sitemaps.

use std::{fs, path::Path};

use serde_json::Value;
use trawl_testweb::{Answer, Behaviour, Behaviours, RobotsKind, SitemapKind, WebSpec};

use crate::harness::{Trawl, Web, place};

/// Prose with a part of its own for each number, and some part in common.
fn prose(seed: usize, words: usize) -> String {
    const WORDS: [&str; 16] = [
        "harbour", "net", "tide", "needle", "quay", "rope", "gull", "lantern", "keel", "storm",
        "anchor", "mast", "pilot", "chart", "wharf", "cargo",
    ];
    let word = |n: usize| {
        let mix = (n + 1).wrapping_mul(seed * 2_654_435_761 + 40_503) >> 7;
        format!("{}{}", WORDS[mix % 16], mix / 16 % 97)
    };
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}

fn article(title: &str, text: &str, links: &str) -> Behaviour {
    Behaviour::page(format!(
        "<!doctype html><html lang=en><title>{title}</title><nav><a href='/'>Home</a></nav>\
         <main><article><h1>{title}</h1><p>{text}</p>{links}</article></main></html>"
    ))
}

fn links(targets: &[&str]) -> String {
    let link = |to: &&str| format!("<p>See also <a href='{to}'>what is at {to}</a>.</p>");
    targets.iter().map(link).collect()
}

fn one_host(behaviours: Behaviours) -> Web {
    Web::start_with(WebSpec::many_hosts(1, 1), behaviours)
}

/// The record of a path.
#[track_caller]
fn of<'r>(records: &'r [Value], path: &str) -> &'r Value {
    let is = |record: &&Value| record["url"].as_str().unwrap().ends_with(path);
    let found = records.iter().find(is);
    found.unwrap_or_else(|| panic!("{path} is not among {records:?}"))
}

fn crawl(web: &Web, database: &Path, args: &[&str]) -> Vec<Value> {
    let done = Trawl::crawl(database, "0").args(args).arg(web.url(0, "/"));
    done.run().expect_code(0).json_lines()
}

#[test]
fn copies_are_found_always_and_near_duplicates_when_asked_for() {
    let text = prose(1, 400);
    let nearly = text.replacen("net", "trawl", 1);
    // What is compared with /a is found by /a alone, and so comes after it.
    let next = links(&["/b", "/c", "/d"]);
    let web = one_host(
        Behaviours::none()
            .on(0, "/", article("Start", &prose(2, 100), &links(&["/a"])))
            .on(0, "/a", article("A page", &text, &next))
            .on(0, "/b", article("A page", &text, &next))
            .on(0, "/c", article("A page", &nearly, &next))
            .on(0, "/d", article("Another", &prose(3, 400), "")),
    );
    let (_folder, database) = place();
    let records = crawl(&web, &database, &[]);
    let first = web.url(0, "/a");
    assert_eq!(of(&records, "/b")["duplicate_of"], first.as_str());
    for path in ["/a", "/c", "/d"] {
        assert_eq!(of(&records, path)["duplicate_of"], Value::Null, "{path}");
    }
    let (_folder, database) = place();
    let records = crawl(&web, &database, &["--near-duplicates"]);
    assert_eq!(of(&records, "/b")["duplicate_of"], first.as_str());
    assert_eq!(of(&records, "/c")["near_duplicate_of"], first.as_str());
    assert_eq!(of(&records, "/c")["duplicate_of"], Value::Null);
    assert_eq!(of(&records, "/d")["near_duplicate_of"], Value::Null);
    let explain = Trawl::on("explain", &database).arg(web.url(0, "/c")).run();
    let says = format!("nearly as    {first}");
    assert!(explain.stdout.contains(&says), "{}", explain.stdout);
    let status = Trawl::on("status", &database).arg("--json").run();
    let counts = &status.json_lines()[0]["counts"];
    assert_eq!(
        (&counts["duplicates"], &counts["near_duplicates"]),
        (&1.into(), &1.into())
    );
}

/// Pages that differ in a word, each with a link of its own.
fn cluster(pages: usize) -> (Behaviours, String) {
    let text = prose(4, 3000);
    let paths: Vec<String> = (0..pages).map(|n| format!("/same/{n}")).collect();
    let mut behaviours = Behaviours::none();
    for (n, path) in paths.iter().enumerate() {
        let text = text.replacen("tide", &format!("tide{n}x"), 1);
        let link = links(&[&format!("/only/{n}")]);
        behaviours = behaviours
            .on(0, path, article("The same", &text, &link))
            .on(
                0,
                &format!("/only/{n}"),
                article("Leaf", &prose(100 + n, 200), ""),
            );
    }
    let all: Vec<&str> = paths.iter().map(String::as_str).collect();
    (behaviours, links(&all))
}

#[test]
fn a_large_cluster_of_near_duplicates_is_not_followed_and_says_why() {
    let (behaviours, all) = cluster(12);
    let front = article("Start", &prose(5, 100), &all);
    let web = one_host(behaviours.on(0, "/", front));
    let (_folder, database) = place();
    let args = ["--near-duplicates", "--stop-at-near-duplicates", "5"];
    let records = crawl(&web, &database, &args);
    let leaves = records.iter().filter(|r| r["title"] == "Leaf").count();
    assert_eq!(leaves, 5);
    let status = Trawl::on("status", &database).arg("--json").run();
    let counts = &status.json_lines()[0]["counts"];
    assert_eq!(counts["reasons"]["near_duplicates"], 7);
}

#[test]
fn clusters_are_known_again_after_kill_nine() {
    let (behaviours, all) = cluster(12);
    let front = article("Start", &prose(5, 100), &all);
    let web = one_host(behaviours.on(0, "/", front));
    let (_folder, database) = place();
    let run = Trawl::crawl(&database, "20ms")
        .args(["--near-duplicates", "--stop-at-near-duplicates", "5"])
        .args(["--output", "none"])
        .arg(web.url(0, "/"))
        .start();
    web.wait_until(|log| log.count_where(|request| request.path().starts_with("/same/")) >= 8);
    run.kill();
    let resumed = Trawl::on("resume", &database).args(["--output", "none"]);
    resumed.run().expect_code(0);
    let records = Trawl::on("export", &database).run().json_lines();
    let near = records
        .iter()
        .filter(|r| r["near_duplicate_of"].is_string());
    assert_eq!(near.count(), 11);
    assert_eq!(records.iter().filter(|r| r["title"] == "Leaf").count(), 5);
}

#[test]
fn what_is_kept_comes_out_again() {
    let text = prose(6, 300);
    let web = one_host(
        Behaviours::none()
            .on(
                0,
                "/",
                article("Nets | Harbour", &text, &links(&["/long", "/none"])),
            )
            .on(0, "/long", article("Long", &prose(7, 2000), ""))
            .on(
                0,
                "/none",
                Behaviour::page("<!doctype html><title>Empty</title>"),
            ),
    );
    let (folder, database) = place();
    let keep = [
        "--keep",
        "html,markdown",
        "--keep",
        "text",
        "--max-content",
        "4000",
    ];
    let records = crawl(&web, &database, &keep);
    let front = of(&records, "/");
    assert!(front["markdown"].as_str().unwrap().starts_with("# Nets"));
    let link = format!("[what is at /long]({})", web.url(0, "/long"));
    assert!(front["markdown"].as_str().unwrap().contains(&link));
    assert!(!front["text"].as_str().unwrap().contains("]("));
    assert_eq!(front["metadata"]["language"], "en");
    assert!(front["word_count"].as_u64().unwrap() > 300);
    assert_eq!(front["html"], Value::Null, "only when asked for");
    let long = of(&records, "/long");
    assert_eq!(long["truncated"], true);
    assert!(long["markdown"].as_str().unwrap().len() <= 4000);
    assert_eq!(of(&records, "/none")["markdown"], "");
    let fields = ["--fields", "url,html,text", "--format", "json"];
    let export = Trawl::on("export", &database).args(fields).run();
    let pages: Vec<Value> = serde_json::from_str(&export.stdout).unwrap();
    assert!(
        of(&pages, "/none")["html"]
            .as_str()
            .unwrap()
            .contains("<title>")
    );
    assert_eq!(of(&pages, "/long")["markdown"], Value::Null);
    let pages = folder.path().join("pages/");
    let export = Trawl::on("export", &database).args(["--format", "markdown", "--output"]);
    export.arg(&pages).run().expect_code(0);
    assert_eq!(markdown_files(&pages).len(), 3);
}

/// The text of all Markdown files of a folder of folders.
fn markdown_files(folder: &Path) -> Vec<String> {
    let folders = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = folders
        .filter(|path| path.is_dir())
        .flat_map(|path| fs::read_dir(path).unwrap())
        .map(|entry| entry.unwrap().path());
    files
        .map(|path| fs::read_to_string(path).unwrap())
        .collect()
}

#[test]
fn a_page_that_has_not_changed_has_the_markdown_of_its_earlier_visit() {
    let answer = Answer::html(
        "<!doctype html><title>T</title><main><h1>Nets</h1><p>A torn net is mended here.</p></main>",
    );
    let page = Behaviour::Answer(answer.with_header("etag", "\"1\""));
    let web = one_host(Behaviours::none().on(0, "/", page));
    let (_folder, database) = place();
    assert_eq!(crawl(&web, &database, &[])[0]["markdown"], Value::Null);
    for outcome in ["fetched", "not_modified"] {
        let records = crawl(&web, &database, &["--keep", "markdown"]);
        assert_eq!(records[0]["outcome"], outcome);
        let markdown = records[0]["markdown"].as_str().unwrap();
        assert!(markdown.contains("mended here"), "{markdown}");
    }
}

fn documents() -> Behaviours {
    let typed = |kind, body: &str| Behaviour::Answer(Answer::of_type(kind, body.to_owned()));
    let feed = "<?xml version='1.0'?><rss version='2.0'><channel><title>News</title><item>\
                <title>One</title><link>/from-feed</link><description>The first.</description>\
                </item></channel></rss>";
    let all = links(&[
        "/notes.md",
        "/plain.txt",
        "/feed.xml",
        "/paper.pdf",
        "/pic.png",
    ]);
    Behaviours::none()
        .on(0, "/", article("Start", &prose(8, 100), &all))
        .on(
            0,
            "/notes.md",
            typed("text/markdown", "# Notes\n\nSee [more](/from-notes)."),
        )
        .on(0, "/plain.txt", typed("text/plain", "Nothing but text."))
        .on(0, "/feed.xml", typed("application/rss+xml", feed))
        .on(0, "/paper.pdf", typed("application/pdf", "%PDF-1.4 broken"))
        .on(0, "/pic.png", typed("image/png", "\u{89}PNG"))
        .on(0, "/from-notes", article("From notes", &prose(9, 50), ""))
        .on(0, "/from-feed", article("From feed", &prose(10, 50), ""))
}

#[test]
fn documents_are_read_where_their_content_is_kept() {
    let web = one_host(documents());
    let (_folder, database) = place();
    let records = crawl(&web, &database, &["--keep", "markdown"]);
    let notes = of(&records, "/notes.md");
    assert_eq!(
        (&notes["outcome"], &notes["title"]),
        (&"fetched".into(), &"Notes".into())
    );
    assert!(notes["markdown"].as_str().unwrap().contains("See [more]"));
    assert_eq!(of(&records, "/plain.txt")["markdown"], "Nothing but text.");
    let feed = of(&records, "/feed.xml");
    assert_eq!(feed["title"], "News");
    let entry = &feed["metadata"]["entries"][0];
    assert_eq!(
        (&entry["title"], &entry["text"]),
        (&"One".into(), &Value::Null)
    );
    for path in ["/from-notes", "/from-feed"] {
        assert_eq!(of(&records, path)["outcome"], "fetched", "{path}");
    }
    let paper = of(&records, "/paper.pdf");
    assert_eq!(paper["outcome"], "not_html");
    assert!(
        paper["error"].as_str().unwrap().contains("damaged"),
        "{paper}"
    );
    assert_eq!(of(&records, "/pic.png")["outcome"], "not_html");
}

#[test]
fn documents_stay_unread_where_nobody_asked() {
    let web = one_host(documents());
    let (_folder, database) = place();
    let records = crawl(&web, &database, &[]);
    for path in ["/notes.md", "/plain.txt", "/feed.xml", "/paper.pdf"] {
        assert_eq!(of(&records, path)["outcome"], "not_html", "{path}");
    }
    assert_eq!(records.len(), 6);
}

#[test]
fn sitemaps_of_robots_txt_lead_to_pages_that_nobody_links_to() {
    let spec = WebSpec::many_hosts(1, 700);
    let maps = vec![
        "/sitemap-index.xml".to_owned(),
        "/sitemap.xml.gz".to_owned(),
    ];
    let front = article("Start", &prose(11, 50), "");
    let web = Web::start_with(
        spec,
        Behaviours::none()
            .robots(0, RobotsKind::Sitemaps(maps))
            .on(0, "/", front),
    );
    let (_folder, database) = place();
    let args = [
        "--max-depth",
        "0",
        "--fields",
        "url,depth,outcome,links_total",
    ];
    let records = crawl(&web, &database, &args);
    assert_eq!(records.len(), 1);
    let (_folder, database) = place();
    let sitemaps = [&args[..], &["--sitemaps", "--exclude", "/p/1*"]].concat();
    let records = crawl(&web, &database, &sitemaps);
    let maps = records.iter().filter(|r| r["outcome"] == "not_html");
    assert_eq!(
        maps.count(),
        4,
        "the index, its two parts, and the packed one"
    );
    assert!(records.len() > 300, "{}", records.len());
    assert!(records.iter().all(|record| record["depth"] == 0));
    let robots = web
        .log()
        .count_where(|request| request.path() == "/robots.txt");
    assert_eq!(robots, 2);
}

#[test]
fn a_sitemap_is_guessed_where_that_is_asked_for_and_hostile_ones_end() {
    let listed = "<urlset><url><loc>/listed</loc><lastmod>2024-05-06</lastmod></url>\
                  <url><loc>http://elsewhere.test/x</loc></url></urlset>";
    let itself = Behaviour::Sitemap(SitemapKind::IndexOfItself);
    let web = one_host(
        Behaviours::none()
            .on(0, "/", article("Start", &prose(12, 50), ""))
            .on(0, "/listed", article("Listed", &prose(13, 50), ""))
            .on(0, "/itself.xml", itself)
            .on(
                0,
                "/sitemap.xml",
                Behaviour::Sitemap(SitemapKind::Custom(listed.into())),
            ),
    );
    let (_folder, database) = place();
    assert_eq!(crawl(&web, &database, &["--sitemaps"]).len(), 1);
    let (_folder, database) = place();
    let records = crawl(
        &web,
        &database,
        &["--sitemaps=guess", "--fields", "url,links"],
    );
    assert_eq!(records.len(), 3, "{records:?}");
    let link = &of(&records, "/sitemap.xml")["links"][0];
    assert_eq!(
        (&link["kind"], &link["anchor"]),
        (&"sitemap".into(), &"2024-05-06".into())
    );
    web.set_robots(0, RobotsKind::Sitemaps(vec!["/itself.xml".into()]));
    let (_folder, database) = place();
    assert_eq!(crawl(&web, &database, &["--sitemaps"]).len(), 2);
    let ignoring = Trawl::crawl(&database, "0").args(["--sitemaps", "--ignore-robots"]);
    ignoring.arg(web.url(0, "/")).run().expect_code(2);
}

#[test]
fn sitemaps_of_sitemaps_come_to_an_end() {
    let index = |to: usize| {
        let listed =
            format!("<sitemapindex><sitemap><loc>/map{to}.xml</loc></sitemap></sitemapindex>");
        Behaviour::Sitemap(SitemapKind::Custom(listed))
    };
    let mut behaviours = Behaviours::none()
        .robots(0, RobotsKind::Sitemaps(vec!["/map0.xml".into()]))
        .on(0, "/", article("Start", &prose(14, 50), ""));
    for n in 0..20 {
        behaviours = behaviours.on(0, &format!("/map{n}.xml"), index(n + 1));
    }
    let web = one_host(behaviours);
    let (_folder, database) = place();
    assert_eq!(crawl(&web, &database, &["--sitemaps"]).len(), 5);
}

#[test]
fn near_duplicates_are_found_among_pages_that_have_not_changed() {
    let text = prose(15, 500);
    let page = |text: &str, next: &str| {
        let html = format!(
            "<!doctype html><title>T</title><main><h1>Nets</h1><p>{text}</p>{}</main>",
            links(&[next])
        );
        Behaviour::Answer(Answer::html(html).with_header("etag", "\"1\""))
    };
    let web = one_host(Behaviours::none().on(0, "/", page(&text, "/b")).on(
        0,
        "/b",
        page(&text.replacen("net", "trawl", 1), "/"),
    ));
    let (_folder, database) = place();
    for outcome in ["fetched", "not_modified"] {
        let records = crawl(&web, &database, &["--near-duplicates"]);
        let second = of(&records, "/b");
        assert_eq!(second["near_duplicate_of"], web.url(0, "/"), "{second}");
        assert_eq!(second["outcome"], outcome);
    }
}
