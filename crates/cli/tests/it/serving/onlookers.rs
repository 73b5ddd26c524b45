//! Many who watch and do nothing.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use serde_json::json;

use super::stage;

const OPEN: [&str; 3] = ["--insecure-no-auth", "--delay", "0s"];
const READERS: usize = 300;

#[test]
fn those_who_only_look_on_cost_little_memory() {
    let stage = stage(2, &OPEN);
    let api = stage.server.client();
    // A crawl that does not end.
    let seed = json!({ "urls": [stage.web.url(0, "/")] });
    api.post("/frontier/add", &seed);
    let job = api.get("/frontier/stats").expect(200).json()["job_id"].clone();
    let mut readers = vec![watch(&stage.server.base, job.as_str().unwrap())];
    let before = stage.server.resident_bytes();
    for _ in 1..READERS {
        readers.push(watch(&stage.server.base, job.as_str().unwrap()));
    }
    let each = stage.server.resident_bytes().saturating_sub(before) / READERS as u64;
    assert!(each < 200_000, "{each} bytes for each reader");
}

/// A reader that has its first event.
fn watch(base: &str, job: &str) -> TcpStream {
    let address = base.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let request =
        format!("GET /jobs/{job}/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut seen = Vec::new();
    let mut part = [0; 4096];
    while !seen.windows(5).any(|window| window == b"data:") {
        let read = stream.read(&mut part).unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&part[..read]);
    }
    stream
}
