//! The test web as a process of its own, for benchmarks: prints one line of JSON when it is
//! ready and serves until its standard input closes or it is told to stop.

use std::io::{self, Write as _};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use trawl_testweb::{Behaviours, HostNaming, TestWeb, WebSpec};

const USAGE: &str = "usage: trawl-testweb [--hosts N] [--pages N] [--page-bytes N] [--links N] \
[--latency-ms N] [--seed N] [--port N] [--tls-port N] [--crawl-delay SECONDS] [--external] \
[--cross-host-share F] [--plain-links] [--validators] [--rich-markup] [--loopback-addresses] \
[--hostile] [--log]";

/// What the command line asks for.
struct Setup {
    spec: WebSpec,
    behaviours: Behaviours,
}

fn main() -> io::Result<()> {
    let setup = match parse(std::env::args().skip(1)) {
        Ok(setup) => setup,
        Err(message) => {
            let _ = writeln!(io::stderr(), "{message}\n{USAGE}");
            std::process::exit(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve(setup))?;
    // The thread that reads standard input may still be blocked in it.
    runtime.shutdown_background();
    Ok(())
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Setup, String> {
    let mut behaviours = Behaviours::none();
    let mut spec = WebSpec {
        log_requests: false,
        ..WebSpec::default()
    };
    while let Some(flag) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{flag} needs a value"));
        match flag.as_str() {
            "--hosts" => spec.hosts = number(&flag, &value()?)?,
            "--pages" => spec.pages = number(&flag, &value()?)?,
            "--page-bytes" => spec.page_bytes = number(&flag, &value()?)?,
            "--links" => spec.links_per_page = number(&flag, &value()?)?,
            "--latency-ms" => spec.latency = Duration::from_millis(number(&flag, &value()?)?),
            "--seed" => spec.seed = number(&flag, &value()?)?,
            "--port" => spec.port = number(&flag, &value()?)?,
            "--tls-port" => spec.tls_port = number(&flag, &value()?)?,
            "--crawl-delay" => spec.crawl_delay = Some(number(&flag, &value()?)?),
            "--cross-host-share" => spec.cross_host_share = number(&flag, &value()?)?,
            "--external" => spec.external_links = true,
            "--plain-links" => spec.spelling_variants = false,
            "--validators" => spec.validators = true,
            "--rich-markup" => spec.rich_markup = true,
            "--loopback-addresses" => spec.naming = HostNaming::LoopbackAddresses,
            "--hostile" => behaviours = behaviours.with_gallery(),
            "--log" => spec.log_requests = true,
            _ => return Err(format!("unknown argument {flag}")),
        }
    }
    Ok(Setup { spec, behaviours })
}

fn number<T: std::str::FromStr>(flag: &str, value: &str) -> Result<T, String> {
    value
        .parse()
        .map_err(|_| format!("{flag}: not a number it can take: {value}"))
}

async fn serve(setup: Setup) -> io::Result<()> {
    let web = TestWeb::start_with(setup.spec, setup.behaviours).await?;
    // One host is crawled by its address, many by their names.
    let named = web.spec().hosts > 1;
    web.render_all(named);
    let ready = serde_json::json!({
        "addr": web.addr().to_string(),
        "tls_addr": web.tls_addr().to_string(),
        "root": if named { web.url(0, "/") } else { web.loopback_url("/") },
        "hosts": web.spec().hosts,
        "pages": web.spec().pages,
        "ca_pem": web.ca_pem(),
    });
    let mut out = io::stdout();
    writeln!(out, "{ready}")?;
    out.flush()?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
        () = stdin_closed() => {}
    }
    web.stop().await;
    Ok(())
}

/// Waits until whoever started this process lets go of it.
async fn stdin_closed() {
    let drained = tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink()));
    let _ = drained.await;
}
