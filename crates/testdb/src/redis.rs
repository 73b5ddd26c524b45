//! A Redis server in a temporary directory, on a spare port, that keeps nothing on disk.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Command,
    thread,
    time::Duration,
};

use crate::watched::{Watched, spare_port};

const PASSWORD: &str = "s3cret";

const WATCH: &str = r#"
trap '' INT TERM HUP
port=$1 password=$2
shift 2
data=$(mktemp -d)
start() {
  redis-server --port "$port" --bind 127.0.0.1 --dir "$data" --requirepass "$password" \
    --save '' --appendonly no $more >>"$data/log" 2>&1 </dev/null &
  pid=$!
}
more=$*
crash() { kill -KILL "$pid"; wait "$pid"; }
freeze() { kill -STOP "$pid"; }
thaw() { kill -CONT "$pid"; }
start
echo "$data"
while read -r order; do
  "$order" 2>/dev/null
  echo done
done
crash 2>/dev/null
rm -rf "$data"
"#;

/// A running server. It stops when this is dropped.
#[derive(Debug)]
pub struct Redis {
    port: u16,
    watched: Watched,
}

impl Redis {
    /// Starts a server and waits until it answers.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The same with further arguments, none of which has spaces in it.
    pub fn start_with(more: &[&str]) -> Self {
        let known = Command::new("redis-server").arg("--version").output();
        known.expect("Redis is installed: run ci/packages");
        let port = spare_port();
        let mut watch = Command::new("sh");
        watch.args(["-c", WATCH, "sh", &port.to_string(), PASSWORD]);
        watch.args(more);
        let redis = Self {
            port,
            watched: Watched::start(watch),
        };
        redis.ready();
        redis
    }

    /// With its password.
    pub fn url(&self) -> String {
        format!("redis://:{PASSWORD}@127.0.0.1:{}", self.port)
    }

    /// `kill -9`: it forgets everything.
    pub fn crash(&self) {
        self.watched.order("crash");
    }

    /// After a crash; waits until it answers.
    pub fn start_again(&self) {
        self.watched.order("start");
        self.ready();
    }

    /// It answers nothing, and its connections stay open.
    pub fn freeze(&self) {
        self.watched.order("freeze");
    }

    pub fn thaw(&self) {
        self.watched.order("thaw");
    }

    /// It forgets everything.
    pub fn flush(&self) {
        assert!(self.ask("FLUSHALL").starts_with("+OK"));
    }

    /// One command, in words, and what comes back, as it comes.
    pub fn ask(&self, command: &str) -> String {
        self.try_ask(command).expect("Redis answers")
    }

    fn try_ask(&self, command: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .ok()?;
        let orders = format!("AUTH {PASSWORD}\r\n{command}\r\nQUIT\r\n");
        stream.write_all(orders.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let answer = answer.strip_prefix("+OK\r\n")?;
        Some(answer.strip_suffix("+OK\r\n")?.to_owned())
    }

    fn ready(&self) {
        for _ in 0..600 {
            if self
                .try_ask("PING")
                .is_some_and(|said| said.starts_with("+PONG"))
            {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("Redis does not start");
    }
}
