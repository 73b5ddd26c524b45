//! The real binary. Every run has a limit, so that a hang fails instead of hanging.

use std::{
    ffi::OsStr,
    io::{Read, Seek, Write},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::Value;

/// Far above what any run takes on a busy machine.
const HANG: Duration = Duration::from_mins(4);

/// A call of `trawl` to be made.
#[derive(Debug)]
pub(crate) struct Trawl(Command);

impl Trawl {
    pub(crate) fn new(command: &str) -> Self {
        let mut call = Command::new(env!("CARGO_BIN_EXE_trawl"));
        call.arg(command).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TRAWL_") {
                call.env_remove(name);
            }
        }
        Self(call)
    }

    /// `trawl crawl` on a test web by its names.
    pub(crate) fn crawl(database: &Path, delay: &str) -> Self {
        Self::on("crawl", database)
            .args(["--allow-network", "127.0.0.0/8"])
            .args(["--resolve", "*.test=127.0.0.1"])
            .args(["--delay", delay])
    }

    /// A command on a database.
    pub(crate) fn on(command: &str, database: &Path) -> Self {
        Self::new(command).arg("--database").arg(database)
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.0.arg(arg);
        self
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.0.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.0.env(name, value);
        self
    }

    /// In this working directory.
    pub(crate) fn inside(mut self, folder: &Path) -> Self {
        self.0.current_dir(folder);
        self
    }

    /// What it reads from standard input.
    pub(crate) fn input(mut self, text: impl AsRef<[u8]>) -> Self {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_ref()).unwrap();
        file.rewind().unwrap();
        self.0.stdin(Stdio::from(file));
        self
    }

    /// Starts it; what it writes is collected beside it.
    pub(crate) fn start(mut self) -> Run {
        let said = format!("{:?}", self.0);
        let mut child = self
            .0
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = collect(child.stdout.take().unwrap());
        let stderr = collect(child.stderr.take().unwrap());
        Run {
            child,
            said,
            stdout,
            stderr,
        }
    }

    /// Starts it with a pipe that nobody reads.
    pub(crate) fn start_unread(mut self) -> Unread {
        let child = self.0.stdout(Stdio::piped()).stderr(Stdio::null());
        Unread(child.spawn().unwrap())
    }

    /// Runs it to its end with a pipe whose reader has left.
    pub(crate) fn run_unheard(mut self) -> Done {
        let (gone, pipe) = std::io::pipe().unwrap();
        drop(gone);
        let said = format!("{:?}", self.0);
        let call = self.0.stdout(pipe).stderr(Stdio::piped());
        let mut child = call.spawn().unwrap();
        let stderr = collect(child.stderr.take().unwrap());
        let run = Run {
            child,
            said,
            stdout: thread::spawn(String::new),
            stderr,
        };
        run.finish()
    }

    /// Runs it to its end.
    pub(crate) fn run(self) -> Done {
        self.start().finish()
    }

    /// Sends a signal; false if the process is gone.
    pub(crate) fn signal(process: u32, name: &str) -> bool {
        let mut kill = Command::new("kill");
        let kill = kill
            .args([name, &process.to_string()])
            .stderr(Stdio::null());
        kill.status().unwrap().success()
    }
}

fn collect(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8(bytes).expect("the output is UTF-8")
    })
}

/// A running `trawl`.
#[derive(Debug)]
pub(crate) struct Run {
    child: Child,
    said: String,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
}

impl Run {
    /// `kill -9`, unless it has ended by itself; waits until the process is gone.
    pub(crate) fn kill(mut self) -> Option<ExitStatus> {
        let ended = self.child.try_wait().unwrap();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        ended
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    pub(crate) fn signal(&self, name: &str) {
        assert!(Trawl::signal(self.id(), name));
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end.
    pub(crate) fn finish(self) -> Done {
        let Self {
            mut child,
            said,
            stdout,
            stderr,
        } = self;
        let id = child.id().to_string();
        let (tell, ended) = mpsc::channel();
        thread::spawn(move || tell.send(child.wait().unwrap()));
        let Ok(status) = ended.recv_timeout(HANG) else {
            let _ = Command::new("kill").args(["-9", &id]).status();
            panic!("{said} hangs");
        };
        Done {
            status,
            stdout: stdout.join().unwrap(),
            stderr: stderr.join().unwrap(),
            said,
        }
    }
}

/// A running `trawl` whose output waits in a pipe.
#[derive(Debug)]
pub(crate) struct Unread(Child);

impl Unread {
    /// Signals that arrive together count once, so they are sent until the process is gone. Its
    /// exit code.
    pub(crate) fn signalled_until_gone(mut self, name: &str) -> Option<i32> {
        let began = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            if began.elapsed() > HANG {
                self.0.kill().unwrap();
                panic!("it does not heed {name}");
            }
            Trawl::signal(self.0.id(), name);
            thread::sleep(Duration::from_millis(30));
        }
    }
}

/// A `trawl` that has ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    said: String,
}

impl Done {
    /// Fails unless it ended with this code.
    #[track_caller]
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!(
            self.status.code(),
            Some(code),
            "{}\nstdout: {}\nstderr: {}",
            self.said,
            self.stdout,
            self.stderr
        );
        self
    }

    /// Standard output as one JSON value on each line.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        let line =
            |text: &str| serde_json::from_str(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        self.stdout.lines().map(line).collect()
    }
}

/// A folder for one test's database, and the path of the database in it.
pub(crate) fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("crawl.db");
    (folder, database)
}
