//! Archives in an S3-compatible store: a small server on loopback that knows the secret and believes
//! nobody else.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::{Arc, Mutex},
    thread,
};

use sha2::{Digest, Sha256};
use trawl_testweb::WebSpec;

use super::{admin_on, results};
use crate::harness::{Trawl, Web, place};

const SECRET: &str = "a secret that only two know";

/// Objects by their paths, each with its checksum.
type Objects = Arc<Mutex<BTreeMap<String, (Vec<u8>, String)>>>;

struct Store {
    endpoint: String,
    objects: Objects,
}

impl Store {
    /// `forgets` makes it lose the last byte of whatever it is given.
    fn start(forgets: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let objects = Objects::default();
        let shared = Arc::clone(&objects);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let objects = Arc::clone(&shared);
                thread::spawn(move || serve(&stream.unwrap(), &objects, forgets));
            }
        });
        Self { endpoint, objects }
    }

    fn names(&self) -> Vec<String> {
        self.objects.lock().unwrap().keys().cloned().collect()
    }
}

struct Asked {
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

fn serve(stream: &TcpStream, objects: &Objects, forgets: bool) {
    let mut lines = BufReader::new(stream);
    while let Some(asked) = read(&mut lines) {
        let mut out = stream;
        let answer = answer(&asked, objects, forgets);
        out.write_all(answer.as_bytes()).unwrap();
    }
}

fn read(lines: &mut BufReader<&TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    lines.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length: usize = headers
        .get("content-length")
        .map_or(0, |n| n.parse().unwrap());
    let mut body = vec![0; length];
    lines.read_exact(&mut body).ok()?;
    Some(Asked {
        method,
        path,
        headers,
        body,
    })
}

fn answer(asked: &Asked, objects: &Objects, forgets: bool) -> String {
    let empty = |status: &str| format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
    if asked.headers["authorization"] != expected(asked) {
        let said = "<Error><Code>SignatureDoesNotMatch</Code></Error>";
        let length = said.len();
        return format!("HTTP/1.1 403 Forbidden\r\nContent-Length: {length}\r\n\r\n{said}");
    }
    assert_eq!(
        hex(&Sha256::digest(&asked.body)),
        asked.headers["x-amz-content-sha256"]
    );
    let mut objects = objects.lock().unwrap();
    if asked.method == "PUT" {
        let mut body = asked.body.clone();
        if forgets {
            body.pop();
        }
        let sum = asked.headers["x-amz-meta-sha256"].clone();
        objects.insert(asked.path.clone(), (body, sum));
        return empty("200 OK");
    }
    match objects.get(&asked.path) {
        Some((body, sum)) => format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nx-amz-meta-sha256: {sum}\r\n\r\n",
            body.len()
        ),
        None => empty("404 Not Found"),
    }
}

/// What the header must say, worked out from what came over the wire.
fn expected(asked: &Asked) -> String {
    let said = &asked.headers["authorization"];
    let part = |name: &str| {
        let rest = said.split(name).nth(1).unwrap();
        rest.split(',').next().unwrap().trim().to_owned()
    };
    let (credential, names) = (part("Credential="), part("SignedHeaders="));
    let (key, scope) = credential.split_once('/').unwrap();
    assert_eq!(key, "the-key");
    for needed in ["host", "x-amz-content-sha256", "x-amz-date"] {
        assert!(names.split(';').any(|name| name == needed), "{needed}");
    }
    let mut canonical = vec![asked.method.clone(), asked.path.clone(), String::new()];
    for name in names.split(';') {
        canonical.push(format!("{name}:{}", asked.headers[name]));
    }
    canonical.push(String::new());
    canonical.push(names.clone());
    canonical.push(asked.headers["x-amz-content-sha256"].clone());
    let hash = hex(&Sha256::digest(canonical.join("\n").as_bytes()));
    let at = &asked.headers["x-amz-date"];
    let text = format!("AWS4-HMAC-SHA256\n{at}\n{scope}\n{hash}");
    let start = format!("AWS4{SECRET}").into_bytes();
    let key = scope.split('/').fold(start, |key, part| code(&key, part));
    let signature = hex(&code(&key, &text));
    format!(
        "AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={signature}"
    )
}

/// HMAC with SHA-256, as its definition has it.
fn code(key: &[u8], text: &str) -> Vec<u8> {
    assert!(key.len() <= 64);
    let padded = |with: u8| -> Vec<u8> {
        let byte = |at: usize| key.get(at).copied().unwrap_or(0) ^ with;
        (0..64).map(byte).collect()
    };
    let inner = Sha256::digest([padded(0x36), text.as_bytes().to_vec()].concat());
    Sha256::digest([padded(0x5c), inner.to_vec()].concat()).to_vec()
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    digits.collect::<Vec<_>>().concat()
}

fn crawled(database: &Path) {
    let web = Web::start(WebSpec::small_site(8));
    let call = Trawl::crawl(database, "0").args(["--keep", "html", "--output", "none"]);
    call.arg(web.url(0, "/")).run().expect_code(0);
}

fn archive(database: &Path, store: &Store, secret: &str) -> Trawl {
    admin_on("archive", database)
        .args([
            "--crawl",
            "1",
            "--delete",
            "--output",
            "s3://cold-data/trawl pages",
        ])
        .env("AWS_ENDPOINT_URL", &store.endpoint)
        .env("AWS_ACCESS_KEY_ID", "the-key")
        .env("AWS_SECRET_ACCESS_KEY", secret)
        .env("AWS_REGION", "eu-north-1")
}

#[test]
fn an_archive_is_sent_signed_and_removed_here_once_it_is_there() {
    let (_folder, database) = place();
    crawled(&database);
    let store = Store::start(false);
    let done = archive(&database, &store, SECRET).run().expect_code(0);
    assert!(
        done.stdout.contains("s3://cold-data/trawl pages/"),
        "{}",
        done.stdout
    );
    let names = store.names();
    assert_eq!(names.len(), 3, "{names:?}");
    for (name, (bytes, sum)) in &*store.objects.lock().unwrap() {
        assert!(name.starts_with("/cold-data/trawl%20pages/"), "{name}");
        assert_eq!(hex(&Sha256::digest(bytes)), *sum, "{name}");
    }
    let pages = names
        .iter()
        .find(|name| name.ends_with(".ndjson.zst"))
        .unwrap();
    let packed = store.objects.lock().unwrap()[pages].0.clone();
    let plain = zstd::decode_all(packed.as_slice()).unwrap();
    assert_eq!(String::from_utf8(plain).unwrap().lines().count(), 8);
    assert!(results(&database).is_empty());
}

#[test]
fn nothing_is_removed_unless_the_store_has_it_in_full() {
    let (_folder, database) = place();
    crawled(&database);
    let good = Store::start(false);
    let done = archive(&database, &good, "another secret")
        .run()
        .expect_code(1);
    assert!(
        done.stderr.contains("SignatureDoesNotMatch"),
        "{}",
        done.stderr
    );
    assert!(!done.stderr.contains("another secret"), "{}", done.stderr);
    let forgetful = Store::start(true);
    let done = archive(&database, &forgetful, SECRET).run().expect_code(1);
    assert!(
        done.stderr.contains("nothing was removed"),
        "{}",
        done.stderr
    );
    assert_eq!(results(&database).len(), 8);
    let done = admin_on("archive", &database)
        .args(["--crawl", "1", "--output", "s3://cold-data"])
        .env("AWS_ACCESS_KEY_ID", "")
        .run()
        .expect_code(2);
    assert!(done.stderr.contains("AWS_ACCESS_KEY_ID"), "{}", done.stderr);
}
