//! The real server and a plain client. A server has a limit against hanging, like every run.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request, StatusCode, body::Incoming, header};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::Value;

/// Far above what anything takes on a busy machine.
const HANG: Duration = Duration::from_mins(2);

/// A running `trawl serve`; killed when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) base: String,
    /// The key that the first start printed.
    pub(crate) key: Option<String>,
    /// Where the index is that does not lie beside a file, unless a test says where.
    _index: tempfile::TempDir,
}

impl Server {
    /// Starts it on a port of its own, for crawls of the test web.
    pub(crate) fn start(database: &Path, args: &[&str]) -> Self {
        let web = [
            "--allow-network",
            "127.0.0.0/8",
            "--resolve",
            "*.test=127.0.0.1",
        ];
        Self::start_alone(database, &[&web, args].concat())
    }

    /// Starts it so that it may ask nobody on this machine.
    pub(crate) fn start_alone(database: &Path, args: &[&str]) -> Self {
        Self::start_with(database, args, Stdio::inherit())
    }

    /// The same, with its log lines in a file.
    pub(crate) fn start_logged(database: &Path, args: &[&str], log: &Path) -> Self {
        Self::start_with(database, args, std::fs::File::create(log).unwrap().into())
    }

    fn start_with(database: &Path, args: &[&str], log: Stdio) -> Self {
        let mut call = Command::new(env!("CARGO_BIN_EXE_trawl"));
        call.args(["serve", "--listen", "127.0.0.1:0", "--database"])
            .arg(database)
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TRAWL_") {
                call.env_remove(name);
            }
        }
        // What lies in the home or the working directory of whoever runs the tests is not theirs.
        let index = tempfile::tempdir().unwrap();
        call.env("TRAWL_MODELS", index.path());
        if database.to_string_lossy().starts_with("postgres") {
            call.env("TRAWL_SEARCH_INDEX", index.path().join("index"));
        }
        let mut child = call.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (mut key, mut base) = (None, None);
        while base.is_none() {
            let line = lines
                .next()
                .expect("the server says where it listens")
                .unwrap();
            if let Some(text) = line.strip_prefix("Admin key (shown this once): ") {
                key = Some(text.to_owned());
            }
            base = line.strip_prefix("Listening on ").map(str::to_owned);
        }
        // What it says later must not fill the pipe.
        thread::spawn(move || lines.for_each(drop));
        Self {
            child,
            base: base.unwrap(),
            key,
            _index: index,
        }
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        Command::new("kill").args([name, &id]).status().unwrap();
    }

    /// Memory that it takes now.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let status = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(status).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes: u64 = line
            .unwrap()
            .trim()
            .trim_end_matches(" kB")
            .parse()
            .unwrap();
        kilobytes * 1024
    }

    /// Asks it to stop and waits for the end.
    pub(crate) fn stop(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status().unwrap();
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(began.elapsed() < HANG, "the server does not stop");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// A client with the key that the first start printed.
    pub(crate) fn client(&self) -> Api {
        Api::new(&self.base, self.key.as_deref())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Speaks to a server.
#[derive(Debug)]
pub(crate) struct Api {
    base: String,
    key: Option<String>,
    runtime: tokio::runtime::Runtime,
    client: Client<hyper_util::client::legacy::connect::HttpConnector, Full<Bytes>>,
}

/// An answer, whole.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: hyper::HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {text}"))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// One JSON value on each line.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let text = self.text();
        text.lines()
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(
            self.status.as_u16(),
            status,
            "{}",
            String::from_utf8_lossy(&self.body)
        );
        self
    }
}

impl Api {
    pub(crate) fn new(base: &str, key: Option<&str>) -> Self {
        Self {
            base: base.to_owned(),
            key: key.map(str::to_owned),
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap(),
            client: Client::builder(TokioExecutor::new()).build_http(),
        }
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Request<Full<Bytes>> {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base));
        if let Some(key) = &self.key {
            request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = match body {
            Some(body) => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                Bytes::from(body.to_string())
            }
            None => Bytes::new(),
        };
        request.body(Full::new(body)).unwrap()
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Reply {
        let request = self.request(method, path, headers, body);
        self.runtime.block_on(async {
            let answer = async {
                let response = self.client.request(request).await.unwrap();
                let (parts, body) = response.into_parts();
                let body = body.collect().await.unwrap().to_bytes().to_vec();
                Reply {
                    status: parts.status,
                    headers: parts.headers,
                    body,
                }
            };
            tokio::time::timeout(HANG, answer).await.expect("an answer")
        })
    }

    /// Nothing if nobody answers.
    pub(crate) fn try_get(&self, path: &str) -> Option<Reply> {
        self.try_send("GET", path, None)
    }

    /// Nothing if nobody answers, or not to the end.
    pub(crate) fn try_send(&self, method: &str, path: &str, body: Option<&Value>) -> Option<Reply> {
        let request = self.request(method, path, &[], body);
        self.runtime.block_on(async {
            let response = self.client.request(request).await.ok()?;
            let (parts, body) = response.into_parts();
            Some(Reply {
                status: parts.status,
                headers: parts.headers,
                body: body.collect().await.ok()?.to_bytes().to_vec(),
            })
        })
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, &[], Some(body))
    }

    pub(crate) fn delete(&self, path: &str) -> Reply {
        self.send("DELETE", path, &[], None)
    }

    pub(crate) fn act(&self, path: &str) -> Reply {
        self.send("POST", path, &[], None)
    }

    /// Opens a stream and gives its pieces to `each` until that says stop; the rest is not read.
    pub(crate) fn stream(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
        mut each: impl FnMut(&[u8]) -> bool,
    ) {
        let request = self.request(method, path, headers, body);
        self.runtime.block_on(async {
            let reading = async {
                let response = self.client.request(request).await.unwrap();
                assert_eq!(response.status().as_u16(), 200);
                let mut body: Incoming = response.into_body();
                while let Some(frame) = body.frame().await {
                    if let Ok(data) = frame.unwrap().into_data()
                        && !each(&data)
                    {
                        return;
                    }
                }
            };
            tokio::time::timeout(HANG, reading)
                .await
                .expect("the stream ends");
        });
    }

    /// Waits until the figures of the search index fulfil a condition.
    #[track_caller]
    pub(crate) fn wait_for_index(&self, condition: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let figures = self.get("/stats").expect(200).json()["search"].take();
            if condition(&figures) {
                return figures;
            }
            assert!(began.elapsed() < HANG, "{figures}");
            thread::sleep(Duration::from_millis(30));
        }
    }

    /// Waits until a job is in one of these states.
    #[track_caller]
    pub(crate) fn wait_for(&self, job: &str, states: &[&str]) -> Value {
        let began = Instant::now();
        loop {
            let view = self.get(&format!("/jobs/{job}")).expect(200).json();
            if states.iter().any(|state| view["status"] == *state) {
                return view;
            }
            assert!(began.elapsed() < HANG, "{view}");
            thread::sleep(Duration::from_millis(30));
        }
    }
}
