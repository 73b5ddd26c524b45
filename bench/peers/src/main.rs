//! The `spider` crate on one site: follows every link, keeps nothing, prints how many it visited.
//! Arguments: start URL, requests at once.

use spider::website::Website;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(url), Some(Ok(at_once))) = (arguments.next(), arguments.next().map(|n| n.parse()))
    else {
        eprintln!("usage: spider-peer <URL> <requests at once>");
        std::process::exit(2);
    };
    let mut website = Website::new(&url);
    website
        .with_respect_robots_txt(false)
        .with_delay(0)
        .with_depth(0)
        .with_concurrency_limit(Some(at_once));
    website.crawl_raw().await;
    println!("{}", website.get_links().len());
}
