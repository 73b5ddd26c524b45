//! The test web on a thread of its own, so that tests can wait for processes without an executor.

use std::{
    io::{Read, Write},
    net::TcpStream,
    ops::Deref,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;
use trawl_testweb::{Behaviours, LoggedRequest, RequestLog, TestWeb, WebSpec};

/// Far above what anything takes on a busy machine.
const HANG: Duration = Duration::from_mins(2);

/// A running test web; stops when dropped.
#[derive(Debug)]
pub(crate) struct Web {
    web: Arc<TestWeb>,
    _stop: oneshot::Sender<()>,
}

impl Web {
    pub(crate) fn start(spec: WebSpec) -> Self {
        Self::start_with(spec, Behaviours::none())
    }

    /// One thread serves everything, in the order in which it arrived: see [`Web::settle`].
    pub(crate) fn start_with(spec: WebSpec, behaviours: Behaviours) -> Self {
        let (ready, started) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let web = TestWeb::start_with(spec, behaviours).await.unwrap();
                ready.send(Arc::new(web)).unwrap();
                let _ = stopped.await;
            });
        });
        Self {
            web: started.recv().unwrap(),
            _stop: stop,
        }
    }

    /// Returns once the web has read all that dead processes sent: connections are served in the
    /// order in which they became readable, and this one is the last. Leaves no trace in the log.
    pub(crate) fn settle(&self) {
        let mut stream = TcpStream::connect(self.web.addr()).unwrap();
        stream
            .write_all(b"GET /.testweb/none HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            .unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    }

    /// Waits until the log fulfils a condition.
    #[track_caller]
    pub(crate) fn wait_until(&self, condition: impl Fn(&RequestLog) -> bool) {
        let log = self.web.log();
        let began = Instant::now();
        while !condition(&log) {
            assert!(began.elapsed() < HANG, "nothing is asked for any more");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Requests for anything but robots.txt.
    pub(crate) fn pages_asked(&self) -> Vec<LoggedRequest> {
        let mut requests = self.web.log().entries();
        requests.retain(|request| request.path() != "/robots.txt");
        requests
    }

    /// The page behind a URL in any of its spellings.
    pub(crate) fn page_of(&self, url: &str) -> Option<u32> {
        let rest = url.strip_prefix("http://")?;
        let (authority, path) = rest.split_at(rest.find('/')?);
        let name = authority.split(':').next()?;
        let host = name.strip_prefix("site")?.split('.').next()?.parse().ok()?;
        let path = path.split(['?', '#']).next()?;
        self.web.graph().find(host, path)
    }
}

impl Deref for Web {
    type Target = TestWeb;

    fn deref(&self) -> &TestWeb {
        &self.web
    }
}
