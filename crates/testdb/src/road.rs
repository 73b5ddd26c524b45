//! A way to a server that can be made worse: bytes come late, not at all, or connections break. What a
//! network loses is late for whoever speaks TCP, so that late covers lost.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{oneshot, watch},
};

/// How bytes travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weather {
    Clear,
    /// Every piece of data waits for between none and all of this.
    Slow(Duration),
    /// Nothing arrives, and nobody is told. New connections are made, and hear nothing.
    Stalled,
}

#[derive(Debug, Clone, Copy)]
struct State {
    weather: Weather,
    /// Connections of an earlier number are cut.
    cuts: u64,
}

/// A port that leads to another one, until it is dropped.
#[derive(Debug)]
pub struct Road {
    url: String,
    state: watch::Sender<State>,
    opened: Arc<AtomicU64>,
    _end: oneshot::Sender<()>,
}

impl Road {
    /// To the server of a URL on this machine.
    pub fn to(url: &str) -> Self {
        let (before, after) = url
            .split_once("127.0.0.1:")
            .expect("an address of this machine");
        let digits = after.chars().take_while(char::is_ascii_digit).count();
        let target: u16 = after[..digits].parse().unwrap();
        let state = State {
            weather: Weather::Clear,
            cuts: 0,
        };
        let (state, seen) = watch::channel(state);
        let (end, ended) = oneshot::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let opened = Arc::<AtomicU64>::default();
        let count = Arc::clone(&opened);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
                tell.send(listener.local_addr().unwrap().port()).unwrap();
                tokio::select! {
                    () = accept(listener, target, seen, count) => {}
                    _ = ended => {}
                }
            });
        });
        let port = told.recv().unwrap();
        let url = format!("{before}127.0.0.1:{port}{}", &after[digits..]);
        Self {
            url,
            state,
            opened,
            _end: end,
        }
    }

    /// The same, by this road.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How many connections were made.
    pub fn opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }

    fn becomes(&self, weather: Weather) {
        self.state.send_modify(|state| state.weather = weather);
    }

    pub fn clear(&self) {
        self.becomes(Weather::Clear);
    }

    /// Every piece of data comes up to so much later.
    pub fn slow(&self, at_most: Duration) {
        self.becomes(Weather::Slow(at_most));
    }

    /// Nothing arrives from now on.
    pub fn stall(&self) {
        self.becomes(Weather::Stalled);
    }

    /// Every connection breaks. What was on its way is lost.
    pub fn cut(&self) {
        self.state.send_modify(|state| state.cuts += 1);
    }
}

async fn accept(
    listener: TcpListener,
    target: u16,
    state: watch::Receiver<State>,
    opened: Arc<AtomicU64>,
) {
    while let Ok((near, _)) = listener.accept().await {
        opened.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(carry(near, target, state.clone()));
    }
}

async fn carry(near: TcpStream, target: u16, mut state: watch::Receiver<State>) {
    let cuts = state.borrow().cuts;
    let ahead = state.clone();
    let work = async {
        let target = SocketAddr::from((Ipv4Addr::LOCALHOST, target));
        let Ok(far) = TcpStream::connect(target).await else {
            return;
        };
        let _ = (near.set_nodelay(true), far.set_nodelay(true));
        let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
        // Whoever hangs up is not heard by the other side before what it said is.
        tokio::select! {
            () = pump(near_in, far_out, ahead.clone()) => {}
            () = pump(far_in, near_out, ahead) => {}
        }
    };
    tokio::select! {
        () = work => {}
        _ = state.wait_for(|state| state.cuts != cuts) => {}
    }
}

async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut state: watch::Receiver<State>) {
    let mut piece = vec![0; 16 * 1024];
    let mut pieces: u64 = 0;
    loop {
        let Ok(read @ 1..) = from.read(&mut piece).await else {
            return;
        };
        pieces = pieces.wrapping_add(1);
        let passes = state
            .wait_for(|state| state.weather != Weather::Stalled)
            .await;
        let Ok(weather) = passes.map(|state| state.weather) else {
            return;
        };
        if let Weather::Slow(at_most) = weather {
            // Of no pattern that anything else has, and the same in every run.
            let share = pieces.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
            tokio::time::sleep(at_most.mul_f64(share as f64 / 256.0)).await;
        }
        if to.write_all(&piece[..read]).await.is_err() {
            return;
        }
    }
}
