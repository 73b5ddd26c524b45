//! `trawl extract`: one document or many, from files, pipes and the web.

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

use serde_json::Value;
use trawl_testweb::{Behaviours, RobotsKind, WebSpec};

use crate::harness::{Trawl, Web, place};

const ARTICLE: &str = r#"<!doctype html><html lang="en"><head>
<title>How nets are mended | The Harbour</title><meta name="author" content="Ada Fisher">
</head><body><nav><a href="/">Home</a> <a href="/shop">Shop</a></nav>
<main><article><h1>How nets are mended</h1>
<p>A torn net is laid out on the quay and looked over from one end to the other before anybody
reaches for a needle, because a hole that is missed is a hole that grows.</p>
<h2>Tools</h2><ul><li>needle</li><li>twine</li></ul>
<p>The rest is told in <a href="../log/2.html">the log of the harbour</a>, where every mended net
of the last forty years has its own line.</p></article></main>
<footer>Cookies help us. Accept all cookies</footer></body></html>"#;

fn local(name: &str) -> Trawl {
    Trawl::new(name)
        .args(["--allow-network", "127.0.0.0/8"])
        .args(["--resolve", "*.test=127.0.0.1", "--delay", "0"])
}

fn from_stdin(args: &[&str], input: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_trawl"))
        .args(["extract", "-"])
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(input.as_bytes()).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_page_from_a_pipe_becomes_markdown_with_absolute_links() {
    let markdown = from_stdin(&["--base", "https://harbour.test/nets/1.html"], ARTICLE);
    assert!(markdown.contains("# How nets are mended"), "{markdown}");
    assert!(markdown.contains("- needle"), "{markdown}");
    let link = "[the log of the harbour](https://harbour.test/log/2.html)";
    assert!(markdown.contains(link), "{markdown}");
    for frame in ["Shop", "Accept all cookies"] {
        assert!(!markdown.contains(frame), "{markdown}");
    }
}

#[test]
fn the_same_page_as_text_html_and_json() {
    let text = from_stdin(&["--format", "text"], ARTICLE);
    assert!(text.contains("laid out on the quay") && !text.contains("]("));
    let html = from_stdin(&["--format", "html"], ARTICLE);
    assert!(html.contains("<li>needle</li>") && !html.contains("<nav"));
    let json: Value = serde_json::from_str(&from_stdin(&["--format", "json"], ARTICLE)).unwrap();
    assert_eq!(json["title"], "How nets are mended");
    assert_eq!(json["metadata"]["author"], "Ada Fisher");
    assert_eq!(json["language"]["declared"], "en");
    assert_eq!(json["text_sha256"].as_str().unwrap().len(), 64);
    assert!(json["word_count"].as_u64().unwrap() > 40);
    assert_eq!(json["truncated"], false);
}

#[test]
fn content_above_the_limit_is_cut_and_says_so() {
    let page = format!("<main><h1>T</h1><p>{}</p></main>", "word ".repeat(5000));
    let args = ["--format", "json", "--max-content", "1000"];
    let json: Value = serde_json::from_str(&from_stdin(&args, &page)).unwrap();
    assert_eq!(json["truncated"], true);
    assert!(json["markdown"].as_str().unwrap().len() <= 1000);
}

#[test]
fn a_page_of_the_web_is_asked_for_politely() {
    let web = Web::start(WebSpec::small_site(20));
    let page = local("extract").arg(web.url(0, "/")).run().expect_code(0);
    assert!(page.stdout.contains("# Page 0"), "{}", page.stdout);
    let asked = web.log().entries();
    let asked: Vec<&str> = asked
        .iter()
        .map(trawl_testweb::LoggedRequest::path)
        .collect();
    assert_eq!(asked, ["/robots.txt", "/"]);
}

#[test]
fn robots_txt_and_private_addresses_hold_here_too() {
    let forbidden = Behaviours::none().robots(0, RobotsKind::DisallowAll);
    let web = Web::start_with(WebSpec::small_site(5), forbidden);
    let refused = local("extract").arg(web.url(0, "/")).run().expect_code(3);
    assert!(refused.stderr.contains("robots.txt does not allow"));
    let private = Trawl::new("extract").arg("http://127.0.0.1:8080/").run();
    assert!(private.expect_code(3).stderr.contains("address"));
}

#[test]
fn a_batch_gives_a_line_for_each_document_whatever_came_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("a.html", ARTICLE.as_bytes());
    write("b.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    write(
        "c.txt",
        b"Plain words, one after another, and nothing else in this file.",
    );
    let elsewhere = tempfile::tempdir().unwrap();
    let output = elsewhere.path().join("out.ndjson");
    Trawl::new("extract")
        .arg("--batch")
        .arg(folder.path())
        .arg("--output")
        .arg(&output)
        .run()
        .expect_code(0);
    let text = fs::read_to_string(&output).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let outcomes: Vec<_> = lines
        .iter()
        .map(|l| l["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["extracted", "unsupported", "extracted"]);
    assert_eq!(lines[0]["title"], "How nets are mended");
    assert_eq!(lines[2]["kind"], "plain_text");
}

#[test]
fn bad_input_is_named() {
    let missing = Trawl::new("extract").arg("no-such-file.html").run();
    assert!(missing.expect_code(2).stderr.contains("no-such-file.html"));
    let none = Trawl::new("extract").run().expect_code(2);
    assert!(none.stderr.contains("--batch"));
    let base = Trawl::new("extract").args(["-", "--base", "nowhere"]).run();
    assert!(base.expect_code(2).stderr.contains("--base"));
}

#[test]
fn a_list_of_urls_may_begin_with_a_byte_order_mark() {
    let web = Web::start(WebSpec::small_site(2));
    let (folder, _) = place();
    let list = folder.path().join("urls.txt");
    let urls = format!("\u{feff}{}\r\n{}\r\n", web.url(0, "/"), web.page_url(1));
    fs::write(&list, urls).unwrap();
    let done = local("extract").arg("--batch").arg(&list).run();
    assert_eq!(done.expect_code(0).json_lines().len(), 2);
}

#[test]
fn a_crawl_becomes_a_folder_of_markdown_files() {
    let web = Web::start(WebSpec::small_site(12));
    let (folder, database) = place();
    let pages = folder.path().join("pages/");
    Trawl::crawl(&database, "0")
        .args(["--format", "markdown", "--output"])
        .arg(&pages)
        .arg(web.url(0, "/"))
        .run()
        .expect_code(0);
    let mut files = 0;
    for entry in fs::read_dir(&pages).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            for file in fs::read_dir(path).unwrap() {
                let text = fs::read_to_string(file.unwrap().path()).unwrap();
                assert!(text.starts_with("---\nurl: \"http://"), "{text}");
                assert!(text.contains("\n# Page "), "{text}");
                files += 1;
            }
        }
    }
    assert_eq!(files, 12);
    let listed = fs::read_to_string(pages.join("pages.ndjson")).unwrap();
    assert_eq!(listed.lines().count(), 12);
    let stdout = Trawl::on("export", &database).args(["--format", "markdown"]);
    assert!(stdout.run().expect_code(2).stderr.contains("folder"));
}
