//! How fast pages are read: `cargo run --release -p trawl-extract --example scan_speed [file.html]`.
//!
//! Prints the best of several rounds for the tokenizer alone, the whole page, decoding and hash.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use trawl_extract::html::Tokenizer;
use trawl_extract::{PageLimits, charset, content_hash, page};
use url::Url;

const ROUNDS: usize = 300;

/// About 20 KB with 40 links, in the proportions of an ordinary article page.
fn synthetic_page() -> String {
    let mut html = String::from(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>A page &amp; more\
         </title>\n<meta name=\"description\" content=\"What it is about\">\n<link rel=\"canonical\" \
         href=\"https://example.org/page\"><link rel=\"stylesheet\" href=\"/style.css\">\
         <script>var a = 1; if (a < 2 && a > 0) { console.log('x'); }</script></head>\n<body>\
         <header class=\"top\"><nav><ul class=\"menu\">",
    );
    for number in 0..10 {
        let _ = write!(
            html,
            "<li class=\"item\"><a href=\"/section/{number}\">Section {number}</a></li>"
        );
    }
    html.push_str("</ul></nav></header>\n<main id=\"content\">\n");
    for number in 0..30 {
        let _ = write!(
            html,
            "<p class=\"text\">Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do \
             eiusmod tempor incididunt ut labore et dolore magna aliqua. <em>Ut enim</em> ad minim \
             veniam, quis nostrud <a href=\"https://example.org/a/{number}?x=1&amp;y={number}\" \
             class=\"link\" title=\"Read on\">exercitation <b>ullamco</b> {number}</a> laboris nisi \
             ut aliquip ex ea commodo consequat. Duis aute irure dolor in reprehenderit in \
             voluptate velit esse cillum dolore eu fugiat nulla pariatur.</p>\n<div class=\"box\">\
             <span data-id=\"{number}\">Excepteur</span> sint <img src=\"/i/{number}.png\" \
             alt=\"Picture\"></div>\n"
        );
    }
    html.push_str("</main><footer><p>Footer</p></footer></body></html>\n");
    html
}

fn measure(name: &str, bytes: usize, mut work: impl FnMut()) {
    let per_round = (512 * 1024 / bytes.max(1)).max(1);
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..per_round {
            work();
        }
        best = best.min(start.elapsed());
    }
    let seconds = best.as_secs_f64() / per_round as f64;
    let megabytes = bytes as f64 / 1e6 / seconds;
    println!(
        "{name:<22} {:>8.2} µs per page {megabytes:>8.0} MB/s",
        seconds * 1e6
    );
}

fn main() {
    let html = std::env::args()
        .nth(1)
        .and_then(|path| std::fs::read_to_string(path).ok())
        .unwrap_or_else(synthetic_page);
    let Ok(base) = Url::parse("https://example.org/page") else {
        return;
    };
    let facts = page(&html, &base, PageLimits::default());
    println!("{} bytes, {} links", html.len(), facts.links.len());
    measure("tokenizer", html.len(), || {
        black_box(Tokenizer::new(black_box(&html)).count());
    });
    measure("page", html.len(), || {
        black_box(page(black_box(&html), &base, PageLimits::default()));
    });
    measure("charset (with header)", html.len(), || {
        black_box(charset::decode(
            black_box(html.as_bytes()),
            Some("text/html; charset=utf-8"),
            None,
        ));
    });
    measure("charset (no header)", html.len(), || {
        black_box(charset::decode(black_box(html.as_bytes()), None, None));
    });
    measure("content_hash", html.len(), || {
        black_box(content_hash(black_box(&html)));
    });
}
