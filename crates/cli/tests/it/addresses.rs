//! Nothing reaches a listening socket on this machine unless its network is allowed, however the
//! address is spelled, whoever leads to it; and each refusal has its name.

use std::{
    collections::HashMap,
    io::ErrorKind,
    net::{TcpListener, ToSocketAddrs},
    path::Path,
};

use serde_json::Value;
use trawl_testweb::{Behaviour, Behaviours, HostNaming, WebSpec};

use crate::harness::{Trawl, Web, place};

/// Sockets that must not be reached: all of 127.0.0.1 and ::1 on one port.
struct Forbidden {
    listeners: Vec<TcpListener>,
    port: u16,
}

impl Forbidden {
    fn listen() -> Self {
        let v4 = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = v4.local_addr().unwrap().port();
        let mut listeners = vec![v4];
        // Not every machine has IPv6.
        if let Ok(mut v6) = ("::1", port).to_socket_addrs() {
            listeners.extend(v6.next().and_then(|addr| TcpListener::bind(addr).ok()));
        }
        for listener in &listeners {
            listener.set_nonblocking(true).unwrap();
        }
        Self { listeners, port }
    }

    #[track_caller]
    fn assert_untouched(&self) {
        for listener in &self.listeners {
            let reached = listener.accept();
            let nobody = matches!(&reached, Err(error) if error.kind() == ErrorKind::WouldBlock);
            assert!(nobody, "somebody came: {reached:?}");
        }
    }
}

/// Hosts that are this machine, or were meant to look as if they were not.
const HOSTS: &[&str] = &[
    // dotted, short, decimal, octal, hex and mixtures of them
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.1.",
    "127.0.1",
    "127.000.000.001",
    "127.0.0.01",
    "0177.0.0.1",
    "0177.0.0.01",
    "0177.0.1",
    "0177.1",
    "017700000001",
    "2130706433",
    "2130706433.",
    "0x7f000001",
    "0x7F000001",
    "0x7f.0.0.1",
    "0x7f.0x0.0x0.0x1",
    "0x7f.0.0x1",
    "0x7f.1",
    "0X7f.1",
    "0x7f000001.",
    "127.0x1",
    "127.0x0.01",
    "0177.0x0.0.1",
    "0x0000007f.0.0.1",
    "000000177.0.0.1",
    "127.0.00.0x01",
    "0",
    "0.0.0.0",
    "00000000",
    "0x0",
    "0.0",
    "127.0.0.1%2e",
    "%31%32%37.0.0.1",
    "127%2E0%2E0%2E1",
    "127.0.0.%31",
    "0x7f%2e1",
    // unicode digits, dots and letters
    "１２７.０.０.１",
    "127。0。0。1",
    "127．0．0．1",
    "127｡0｡0｡1",
    "①②⑦.⓪.⓪.①",
    "𝟏𝟐𝟕.𝟎.𝟎.𝟏",
    "𝟙𝟚𝟟.𝟘.𝟘.𝟙",
    "１27.1",
    "0ｘ7f.1",
    "²130706433",
    "ⅼocalhost",
    "ｌｏｃａｌｈｏｓｔ",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
    "loc\u{ad}alhost",
    "local\u{200b}host",
    "LOCALHOST",
    // IPv6: loopback, unspecified, mapped, compatible, translated
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::0001]",
    "[::]",
    "[0::0]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::FFFF:127.0.0.1]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::127.0.0.1]",
    "[2002:7f00:1::]",
    "[2002:7f00:0001::1]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    "[::ffff:0:127.0.0.1]",
    "[fe80::1]",
    "[fc00::1]",
    "[::1%25lo]",
    "[::1%lo]",
    // names of this machine
    "localhost",
    "localhost.",
    "LocalHost",
    "localhost.localdomain",
    "a.localhost",
    "a.b.localhost.",
    "ip6-localhost",
    "ip6-loopback",
    "localhost6",
    "%6cocalhost",
    // names that lead here: looked up with --resolve
    "innocent.test",
    "innocent.test.",
    "INNOCENT.test",
    "deep.innocent.test",
    "six.test",
    "mapped.test",
    "zero.test",
    "127.0.0.1.test",
    // user names that look like hosts
    "example.org@127.0.0.1",
    "example.org:80@127.0.0.1",
    "example.org%40@127.0.0.1",
    "127.0.0.1:80@localhost",
    "@127.0.0.1",
    ":@127.0.0.1",
    "a:b@[::1]",
];

/// Names that lead to this machine.
const NAMES: [&str; 12] = [
    "127.0.0.1.test=127.0.0.1",
    "*.innocent.test=127.0.0.1",
    "innocent.test=127.0.0.1",
    "six.test=::1",
    "mapped.test=::ffff:127.0.0.1",
    "zero.test=0.0.0.0",
    // Known as this machine by their spelling; nobody else should be asked about them either.
    "localhost=127.0.0.1",
    "*.localhost=127.0.0.1",
    "localhost.localdomain=127.0.0.1",
    "localhost6=::1",
    "ip6-localhost=::1",
    "ip6-loopback=::1",
];

fn urls(port: u16) -> Vec<String> {
    let plain = HOSTS.iter().map(|host| format!("http://{host}:{port}/"));
    let odd = [
        format!("http:\\\\127.0.0.1:{port}\\"),
        format!("http:/127.0.0.1:{port}/"),
        format!("http:127.0.0.1:{port}/"),
        format!("http:///127.0.0.1:{port}/"),
        format!("ht\ntp://127.0.0.1:{port}/"),
        format!("http://127.0.\t0.1:{port}/"),
        format!("//127.0.0.1:{port}/"),
        format!("127.0.0.1:{port}/"),
        format!("localhost:{port}"),
        format!("http://127.0.0.1:{port}#@example.org/"),
        format!("http://127.0.0.1:{port}?@example.org/"),
        format!("https://127.0.0.1:{port}/"),
        format!("ftp://127.0.0.1:{port}/"),
        format!("gopher://127.0.0.1:{port}/"),
        format!("ws://127.0.0.1:{port}/"),
    ];
    plain.chain(odd).collect()
}

/// What the crawl says of a URL: the code of a refusal, or the outcome of a visit.
fn said_of(database: &Path, url: &str) -> String {
    let call = Trawl::on("explain", database).args(["--json", "--", url]);
    let done = call.run();
    if done.status.code() == Some(2) {
        assert!(
            done.stderr.contains("not a URL"),
            "{url:?}: {}",
            done.stderr
        );
        return "invalid_url".to_owned();
    }
    let found = done.expect_code(0).json_lines().remove(0);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    text(&found["seen"]["record"]["outcome"])
        .or_else(|| text(&found["seen"]["reason"]["code"]))
        .or_else(|| text(&found["verdict"]["code"]))
        .unwrap_or_else(|| panic!("{url:?} has no name for its refusal: {found}"))
}

fn is_a_refusal(said: &str) -> bool {
    const NAMES: [&str; 5] = [
        "forbidden_address",
        "userinfo",
        "invalid_url",
        "unsupported_scheme",
        "address_refused",
    ];
    NAMES.contains(&said)
}

#[test]
fn no_spelling_of_a_local_address_is_contacted_as_a_start_url() {
    let forbidden = Forbidden::listen();
    let (_folder, database) = place();
    let urls = urls(forbidden.port);
    assert!(urls.len() >= 100, "{}", urls.len());
    let mut call = Trawl::on("crawl", &database)
        .args([
            "--scope",
            "any",
            "--delay",
            "0",
            "--attempts",
            "1",
            "--quiet",
            "--ignore-robots",
        ])
        // Only the address may be what keeps us from it.
        .args(["--allow-port", &forbidden.port.to_string()]);
    for name in NAMES {
        call = call.args(["--resolve", name]);
    }
    call.arg("--").args(&urls).run().expect_code(3);
    forbidden.assert_untouched();
    let mut names: HashMap<String, usize> = HashMap::new();
    for url in &urls {
        let said = said_of(&database, url);
        assert!(is_a_refusal(&said), "{url:?}: {said}");
        *names.entry(said).or_default() += 1;
    }
    println!("{} spellings: {names:?}", urls.len());
}

/// A web whose own network is allowed, while 127.0.0.1 and ::1 are not.
fn web_beside(behaviours: Behaviours) -> Web {
    let spec = WebSpec {
        naming: HostNaming::LoopbackAddresses,
        ..WebSpec::many_hosts(3, 3)
    };
    Web::start_with(spec, behaviours)
}

fn crawl_beside(database: &Path, web: &Web, port: u16) -> Trawl {
    let mut call = Trawl::on("crawl", database)
        .args([
            "--scope",
            "any",
            "--delay",
            "0",
            "--attempts",
            "1",
            "--quiet",
        ])
        .args(["--allow-network", "127.1.0.0/16"])
        .args(["--allow-port", &port.to_string()]);
    for name in NAMES {
        call = call.args(["--resolve", name]);
    }
    call.arg(web.url(0, "/"))
}

#[test]
fn no_link_and_no_redirect_leads_to_a_local_address() {
    let forbidden = Forbidden::listen();
    let targets = urls(forbidden.port);
    let mut index = String::from("<!doctype html><title>Index</title>\n");
    let mut behaviours = Behaviours::none();
    for (at, target) in targets.iter().enumerate() {
        let quoted = target.replace('&', "&amp;").replace('"', "&quot;");
        let links = format!("<a href=\"/go/{at}\">r</a><a href=\"{quoted}\">l</a>\n");
        index.push_str(&links);
        let redirect = Behaviour::redirect_to(&target.replace(['\n', '\t'], ""));
        behaviours = behaviours.on(0, &format!("/go/{at}"), redirect);
    }
    let web = web_beside(behaviours.on(0, "/", Behaviour::page(index)));
    let (_folder, database) = place();
    let done = crawl_beside(&database, &web, forbidden.port)
        .run()
        .expect_code(0);
    forbidden.assert_untouched();
    let mut redirects = 0;
    for record in done.json_lines() {
        let url = record["url"].as_str().unwrap();
        // Without a scheme some are paths of the web itself, and not found there.
        let Some(_) = url
            .rsplit("/go/")
            .next()
            .and_then(|n| n.parse::<usize>().ok())
        else {
            continue;
        };
        redirects += 1;
        // A name is looked up, and refused, when the page it leads to is visited.
        let outcome = record["outcome"].as_str().unwrap();
        let to = record["redirect_to"].as_str().unwrap_or_default();
        let named = match outcome {
            "redirected" => is_a_refusal(&said_of(&database, to)) || to.contains("//127.1.0."),
            "redirect_refused" | "bad_redirect" => true,
            _ => false,
        };
        assert!(named, "{record}");
    }
    assert_eq!(redirects, targets.len());
    let reached = web.pages_asked();
    assert!(reached.iter().all(|r| r.authority.starts_with("127.1.0.")));
}

#[test]
fn robots_txt_does_not_lead_to_a_local_address() {
    let forbidden = Forbidden::listen();
    let port = forbidden.port;
    for target in [
        format!("http://127.0.0.1:{port}/robots.txt"),
        format!("http://2130706433:{port}/robots.txt"),
        format!("http://[::ffff:7f00:1]:{port}/robots.txt"),
        format!("http://innocent.test:{port}/robots.txt"),
        format!("http://localhost:{port}/robots.txt"),
    ] {
        let (_folder, database) = place();
        let robots = Behaviour::redirect_to(&target);
        let web = web_beside(Behaviours::none().on(0, "/robots.txt", robots));
        let done = crawl_beside(&database, &web, port).run();
        assert!([Some(0), Some(3)].contains(&done.status.code()), "{done:?}");
        forbidden.assert_untouched();
    }
}

#[test]
fn what_is_allowed_is_contacted() {
    let web = web_beside(Behaviours::none());
    let (_folder, database) = place();
    crawl_beside(&database, &web, 80).run().expect_code(0);
    assert_eq!(web.pages_asked().len(), 3);
    // And without permission it is not.
    web.log().clear();
    let (_folder, database) = place();
    let call = Trawl::on("crawl", &database).args(["--delay", "0", "--allow-port"]);
    let call = call.arg(web.addr().port().to_string()).arg(web.url(0, "/"));
    call.run().expect_code(3);
    assert!(web.log().is_empty());
}
