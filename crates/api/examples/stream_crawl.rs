//! Crawls a site and prints its pages while the crawl runs.
//!
//!     TRAWL_URL=http://127.0.0.1:8080 TRAWL_KEY=trawl_... \
//!         cargo run -p trawl-api --example stream_crawl https://example.org/
//!
//! A plain client of the HTTP interface: nothing of Trawl is linked.
#![allow(clippy::disallowed_methods)]

use std::error::Error;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, header};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::{Value, json};

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let base = std::env::var("TRAWL_URL").unwrap_or_else(|_| "http://127.0.0.1:8080".into());
    let key = std::env::var("TRAWL_KEY")?;
    let seed = std::env::args().nth(1).ok_or("give a URL to start from")?;
    let request = Request::post(format!(
        "{base}/api/v1/spider/crawl?result_mode=stream&include=title,outcome"
    ))
    .header(header::AUTHORIZATION, format!("Bearer {key}"))
    .header(header::CONTENT_TYPE, "application/json")
    .body(Full::new(Bytes::from(
        json!({ "seed_urls": [seed] }).to_string(),
    )))?;
    let client = Client::builder(TokioExecutor::new()).build_http();
    let mut response = client.request(request).await?;
    if !response.status().is_success() {
        let body = response.into_body().collect().await?.to_bytes();
        return Err(String::from_utf8_lossy(&body).into());
    }
    let mut lines = Lines::default();
    while let Some(frame) = response.body_mut().frame().await {
        if let Ok(data) = frame?.into_data() {
            lines.take(&data, show)?;
        }
    }
    if lines.complete {
        Ok(())
    } else {
        Err("the stream was cut off: its last line has to be the figures".into())
    }
}

/// Pieces of a stream become lines, wherever they were cut.
#[derive(Default)]
struct Lines {
    rest: Vec<u8>,
    complete: bool,
}

impl Lines {
    fn take(&mut self, data: &[u8], show: impl Fn(&Value)) -> Result<(), Failure> {
        self.rest.extend_from_slice(data);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            // An empty line is a sign of life.
            if line.len() > 1 {
                let message: Value = serde_json::from_slice(&line)?;
                self.complete = message["type"] == "stats";
                show(&message);
            }
        }
        Ok(())
    }
}

fn show(message: &Value) {
    let data = &message["data"];
    if message["type"] == "page" {
        let what = data["title"].as_str().or(data["outcome"].as_str());
        let url = data["url"].as_str().unwrap_or_default();
        println!("{} {url} {}", data["depth"], what.unwrap_or_default());
    } else {
        println!("{} pages, {}", data["pages_crawled"], data["stop_reason"]);
    }
}
