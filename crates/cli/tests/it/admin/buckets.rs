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

/// An upload in parts: the checksum it will have, and its parts by number.
type Upload = (String, BTreeMap<u32, Vec<u8>>);

/// What the store has.
#[derive(Default)]
struct Held {
    /// Objects by their paths, each with its checksum.
    objects: BTreeMap<String, (Vec<u8>, String)>,
    uploads: BTreeMap<String, Upload>,
    /// Of all uploads.
    parts: usize,
}

type Shared = Arc<Mutex<Held>>;

/// What is wrong with the store.
#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    None,
    /// It loses the last byte of whatever it is given.
    Forgets,
    /// It has no room for a third part.
    Full,
    /// It says that it puts parts together, and then that it cannot.
    Muddles,
}

struct Store {
    endpoint: String,
    held: Shared,
}

impl Store {
    fn start(flaw: Flaw) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let held = Shared::default();
        let shared = Arc::clone(&held);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let held = Arc::clone(&shared);
                thread::spawn(move || serve(&stream.unwrap(), &held, flaw));
            }
        });
        Self { endpoint, held }
    }

    fn names(&self) -> Vec<String> {
        self.held.lock().unwrap().objects.keys().cloned().collect()
    }
}

struct Asked {
    method: String,
    path: String,
    query: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

fn serve(stream: &TcpStream, held: &Shared, flaw: Flaw) {
    let mut lines = BufReader::new(stream);
    while let Some(asked) = read(&mut lines) {
        let mut out = stream;
        let answer = answer(&asked, &mut held.lock().unwrap(), flaw);
        out.write_all(answer.as_bytes()).unwrap();
    }
}

fn read(lines: &mut BufReader<&TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    lines.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (path, query) = (path.to_owned(), query.to_owned());
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
        query,
        headers,
        body,
    })
}

fn says(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}")
}

fn answer(asked: &Asked, held: &mut Held, flaw: Flaw) -> String {
    if asked.headers["authorization"] != expected(asked) {
        let said = "<Error><Code>SignatureDoesNotMatch</Code></Error>";
        return says("403 Forbidden", said);
    }
    assert_eq!(
        hex(&Sha256::digest(&asked.body)),
        asked.headers["x-amz-content-sha256"]
    );
    if !asked.query.is_empty() {
        return in_parts(asked, held, flaw);
    }
    if asked.method == "PUT" {
        let mut body = asked.body.clone();
        if flaw == Flaw::Forgets {
            body.pop();
        }
        let sum = asked.headers["x-amz-meta-sha256"].clone();
        held.objects.insert(asked.path.clone(), (body, sum));
        return says("200 OK", "");
    }
    match held.objects.get(&asked.path) {
        Some((body, sum)) => format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nx-amz-meta-sha256: {sum}\r\n\r\n",
            body.len()
        ),
        None => says("404 Not Found", ""),
    }
}

/// Uploads have names that must be encoded.
fn in_parts(asked: &Asked, held: &mut Held, flaw: Flaw) -> String {
    if asked.query == "uploads=" {
        let name = format!("an/upload&{}", held.uploads.len());
        let sum = asked.headers["x-amz-meta-sha256"].clone();
        held.uploads.insert(name.clone(), (sum, BTreeMap::new()));
        let name = name.replace('&', "&amp;");
        return says("200 OK", &format!("<x><UploadId>{name}</UploadId></x>"));
    }
    let pairs = asked
        .query
        .split('&')
        .filter_map(|pair| pair.split_once('='));
    let pairs: BTreeMap<&str, &str> = pairs.collect();
    let name = pairs["uploadId"].replace("%2F", "/").replace("%26", "&");
    match asked.method.as_str() {
        "PUT" => {
            let number: u32 = pairs["partNumber"].parse().unwrap();
            if flaw == Flaw::Full && number == 3 {
                return says("507 Insufficient Storage", "<Error>full</Error>");
            }
            held.parts += 1;
            let parts = &mut held.uploads.get_mut(&name).unwrap().1;
            parts.insert(number, asked.body.clone());
            format!("HTTP/1.1 200 OK\r\nETag: \"{number}&\"\r\nContent-Length: 0\r\n\r\n")
        }
        "POST" => {
            if flaw == Flaw::Muddles {
                return says("200 OK", "<Error><Code>InternalError</Code></Error>");
            }
            let (sum, parts) = held.uploads.remove(&name).unwrap();
            let listed = parts.keys().map(|number| {
                let tag = format!("&quot;{number}&amp;&quot;");
                format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>")
            });
            let listed = listed.collect::<Vec<_>>().concat();
            let wanted = format!("<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>");
            assert_eq!(String::from_utf8_lossy(&asked.body), wanted);
            let whole = parts.into_values().flatten().collect();
            held.objects.insert(asked.path.clone(), (whole, sum));
            says("200 OK", "<CompleteMultipartUploadResult/>")
        }
        method => {
            assert_eq!(method, "DELETE");
            held.uploads.remove(&name).unwrap();
            says("204 No Content", "")
        }
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
    let mut canonical = vec![
        asked.method.clone(),
        asked.path.clone(),
        asked.query.clone(),
    ];
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
    let store = Store::start(Flaw::None);
    let done = archive(&database, &store, SECRET).run().expect_code(0);
    assert!(
        done.stdout.contains("s3://cold-data/trawl pages/"),
        "{}",
        done.stdout
    );
    let names = store.names();
    assert_eq!(names.len(), 3, "{names:?}");
    for (name, (bytes, sum)) in &store.held.lock().unwrap().objects {
        assert!(name.starts_with("/cold-data/trawl%20pages/"), "{name}");
        assert_eq!(hex(&Sha256::digest(bytes)), *sum, "{name}");
    }
    let pages = names
        .iter()
        .find(|name| name.ends_with(".ndjson.zst"))
        .unwrap();
    let packed = store.held.lock().unwrap().objects[pages].0.clone();
    let plain = zstd::decode_all(packed.as_slice()).unwrap();
    assert_eq!(String::from_utf8(plain).unwrap().lines().count(), 8);
    assert!(results(&database).is_empty());
}

#[test]
fn nothing_is_removed_unless_the_store_has_it_in_full() {
    let (_folder, database) = place();
    crawled(&database);
    let good = Store::start(Flaw::None);
    let done = archive(&database, &good, "another secret")
        .run()
        .expect_code(1);
    assert!(
        done.stderr.contains("SignatureDoesNotMatch"),
        "{}",
        done.stderr
    );
    assert!(!done.stderr.contains("another secret"), "{}", done.stderr);
    let forgetful = Store::start(Flaw::Forgets);
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

#[test]
fn a_large_file_is_sent_in_parts_and_put_together() {
    let (_folder, database) = place();
    crawled(&database);
    let store = Store::start(Flaw::None);
    let call = archive(&database, &store, SECRET).env("TRAWL_S3_PART_SIZE", "700");
    call.run().expect_code(0);
    let held = store.held.lock().unwrap();
    assert_eq!(held.objects.len(), 3);
    assert!(held.parts > 2 && held.uploads.is_empty());
    for (name, (bytes, sum)) in &held.objects {
        assert_eq!(hex(&Sha256::digest(bytes)), *sum, "{name}");
    }
    assert!(results(&database).is_empty());
}

#[test]
fn an_upload_in_parts_that_fails_is_given_up_and_nothing_is_removed() {
    let (_folder, database) = place();
    crawled(&database);
    for flaw in [Flaw::Full, Flaw::Muddles] {
        let store = Store::start(flaw);
        let call = archive(&database, &store, SECRET).env("TRAWL_S3_PART_SIZE", "700");
        let done = call.run().expect_code(1);
        assert!(done.stderr.contains("was refused"), "{}", done.stderr);
        let held = store.held.lock().unwrap();
        assert!(held.parts > 1, "it had begun");
        assert!(held.uploads.is_empty(), "it is given up");
        assert!(!held.objects.keys().any(|name| name.contains(".ndjson")));
    }
    assert_eq!(results(&database).len(), 8);
}
