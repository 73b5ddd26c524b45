//! A shell that watches a server. When the process of the tests ends, in whatever way, the shell's input
//! ends, and it stops the server and removes its directory.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Mutex,
};

/// A running shell. It and its server end when this is dropped.
#[derive(Debug)]
pub(crate) struct Watched(Mutex<Shell>);

#[derive(Debug)]
struct Shell {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// A port that nobody uses just now.
pub fn spare_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

impl Watched {
    /// The command is a shell that writes a line when it has begun and one for each order it has obeyed.
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut shell = Shell {
            orders: child.stdin.take(),
            child,
            answers,
        };
        shell.answer();
        Self(Mutex::new(shell))
    }

    pub(crate) fn order(&self, order: &str) {
        let mut shell = self.0.lock().unwrap();
        writeln!(shell.orders.as_mut().unwrap(), "{order}").unwrap();
        shell.answer();
    }
}

impl Shell {
    fn answer(&mut self) {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the shell that watches a server is gone");
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let shell = self.0.get_mut().unwrap();
        drop(shell.orders.take());
        let _ = shell.child.wait();
    }
}
