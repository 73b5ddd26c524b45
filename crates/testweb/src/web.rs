//! The running test web: start it, ask it for the truth, script it, stop it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::behaviour::Behaviour;
use crate::behaviour::robots::RobotsKind;
use crate::graph::TrueGraph;
use crate::log::RequestLog;
use crate::render::{Audience, Renderer};
use crate::script::{Behaviours, HostPick, Script};
use crate::server::serve;
use crate::service::World;
use crate::site::Site;
use crate::spec::{HostNaming, WebSpec, loopback_of};
use crate::tls::Authority;

/// A web on loopback, served until it is stopped or dropped.
#[derive(Debug)]
pub struct TestWeb {
    world: Arc<World>,
    addr: SocketAddr,
    tls_addr: SocketAddr,
    ca_pem: String,
    graph: OnceLock<TrueGraph>,
    listeners: Vec<JoinHandle<()>>,
}

impl TestWeb {
    /// Starts a web without scripted paths.
    pub async fn start(spec: WebSpec) -> io::Result<Self> {
        Self::start_with(spec, Behaviours::none()).await
    }

    /// Starts a web on the runtime of the caller: one listener for HTTP, one for TLS.
    pub async fn start_with(spec: WebSpec, behaviours: Behaviours) -> io::Result<Self> {
        let spec = spec.clamped();
        let plain = TcpListener::bind((Ipv4Addr::LOCALHOST, spec.port)).await?;
        let tls = TcpListener::bind((Ipv4Addr::LOCALHOST, spec.tls_port)).await?;
        let (addr, tls_addr) = (plain.local_addr()?, tls.local_addr()?);
        let others = other_listeners(&spec, addr.port()).await?;
        let authority = Arc::new(Authority::new()?);
        let acceptor = TlsAcceptor::from(Arc::new(authority.server_config()?));
        let log = RequestLog::new(spec.log_requests);
        let site = Site::new(Renderer::new(spec, addr.port(), tls_addr.port()));
        let world = Arc::new(World {
            site,
            script: Script::new(behaviours),
            log,
        });
        let mut listeners = vec![
            tokio::spawn(serve(plain, Arc::clone(&world), None)),
            tokio::spawn(serve(tls, Arc::clone(&world), Some(acceptor))),
        ];
        for listener in others {
            listeners.push(tokio::spawn(serve(listener, Arc::clone(&world), None)));
        }
        let ca_pem = authority.pem();
        Ok(Self {
            world,
            addr,
            tls_addr,
            ca_pem,
            graph: OnceLock::new(),
            listeners,
        })
    }

    /// Address of the plain listener.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Address of the TLS listener.
    pub fn tls_addr(&self) -> SocketAddr {
        self.tls_addr
    }

    /// Certificate of the authority that signs for every name.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// The description that the web was started with.
    pub fn spec(&self) -> &WebSpec {
        &self.world.site.renderer.spec
    }

    /// Name of a host, without port.
    pub fn host_name(&self, host: u32) -> String {
        self.spec().host_name(host)
    }

    /// Address of a path on a host by its name, such as `http://site0.test:4711/p/3`.
    pub fn url(&self, host: u32, path: &str) -> String {
        format!("http://{}:{}{path}", self.host_name(host), self.addr.port())
    }

    /// The same over TLS.
    pub fn tls_url(&self, host: u32, path: &str) -> String {
        format!(
            "https://{}:{}{path}",
            self.host_name(host),
            self.tls_addr.port()
        )
    }

    /// Address of a path on host 0 that needs no resolver; links within the site stay on it.
    pub fn loopback_url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    /// Address of a page of the graph by the name of its host.
    pub fn page_url(&self, page: u32) -> String {
        let graph = self.graph();
        self.url(graph.host(page), &graph.path(page))
    }

    /// The true link graph, computed at the first call.
    pub fn graph(&self) -> &TrueGraph {
        self.graph
            .get_or_init(|| TrueGraph::from_rule(&self.world.site.renderer.rule))
    }

    /// The link that leaves this web on a page, where the description asks for one.
    pub fn external_link(&self, page: u32) -> Option<String> {
        self.world.site.renderer.external_link(page)
    }

    /// A handle on the log of requests.
    pub fn log(&self) -> RequestLog {
        self.world.log.clone()
    }

    /// Sets what a path does from now on. `"*"` means every host; a path that ends in `*` stands
    /// for all that begin with what is before it.
    pub fn on(&self, host: impl Into<HostPick>, path: &str, behaviour: Behaviour) {
        self.world.script.set(host.into(), path, behaviour);
    }

    /// Sets the robots.txt of a host from now on.
    pub fn set_robots(&self, host: impl Into<HostPick>, kind: RobotsKind) {
        self.on(host, "/robots.txt", Behaviour::Robots(kind));
    }

    /// Gives a scripted path back to the ordinary web.
    pub fn off(&self, host: impl Into<HostPick>, path: &str) {
        self.world.script.unset(host.into(), path);
    }

    /// Changes content and validators of a page, as if its author had edited it.
    pub fn touch(&self, page: u32) {
        self.world.site.touch(page);
    }

    /// Renders all pages now for clients that use names (`named`) or the loopback address, so
    /// that the first crawl does not pay for it. Does nothing for webs too large to keep.
    pub fn render_all(&self, named: bool) {
        self.world.site.render_all(Audience { tls: false, named });
    }

    /// Closes the listeners and all connections.
    pub async fn stop(mut self) {
        for listener in self.listeners.drain(..) {
            listener.abort();
            // An aborted task ends in an error by design.
            let _ = listener.await;
        }
    }
}

impl Drop for TestWeb {
    fn drop(&mut self) {
        for listener in &self.listeners {
            listener.abort();
        }
    }
}

async fn other_listeners(spec: &WebSpec, port: u16) -> io::Result<Vec<TcpListener>> {
    let mut listeners = Vec::new();
    if spec.naming == HostNaming::LoopbackAddresses {
        for host in 0..spec.hosts {
            listeners.push(TcpListener::bind((loopback_of(host), port)).await?);
        }
    }
    Ok(listeners)
}
