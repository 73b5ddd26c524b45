//! Which addresses may be contacted. Each row is a way round a check that failed somewhere once.

use std::net::IpAddr;

use trawl_rules::{AddressGuard, AddressRefusal};
use trawl_types::{ReasonCode, spec::FetchSpec};
use url::Url;

use crate::normaliser;

fn guard(networks: &[&str], ports: &[u16]) -> AddressGuard {
    AddressGuard::compile(&FetchSpec {
        allow_networks: networks.iter().map(ToString::to_string).collect(),
        allow_ports: ports.to_vec(),
        ..FetchSpec::default()
    })
    .unwrap()
}

/// The code of whatever refuses the text on its way to a socket; `None` if it may be asked for.
fn refusal(guard: &AddressGuard, text: &str) -> Option<ReasonCode> {
    match normaliser().seed(text) {
        Err(reason) => Some(reason.code),
        Ok(url) => guard
            .check_url(url.address())
            .err()
            .map(|reason| reason.code),
    }
}

#[test]
fn urls_that_lead_inside_are_refused_however_they_are_spelled() {
    use ReasonCode::{
        ForbiddenAddress as F, InvalidUrl as I, UnsupportedScheme as S, Userinfo as U,
    };
    let table: &[(&str, ReasonCode)] = &[
        // loopback in every spelling of IPv4
        ("http://127.0.0.1/", F),
        ("http://127.0.0.1:8080/", F),
        ("http://127.1/", F),
        ("http://127.0.1/", F),
        ("http://127.255.255.254/", F),
        ("http://2130706433/", F),
        ("http://0x7f000001/", F),
        ("http://0X7F.0.0.0X1/", F),
        ("http://0x7f.1/", F),
        ("http://017700000001/", F),
        ("http://0177.0.0.1/", F),
        ("http://0177.0.0.01/", F),
        ("http://00000177.0.0.1/", F),
        ("http://127.0.0.1./", F),
        ("http://127.0.0.0x1./", F),
        ("http://127.0.0.1../", I),
        ("http://0/", F),
        ("http://0.0.0.0/", F),
        ("http://0x0/", F),
        ("http://00/", F),
        ("http://0.1.2.3/", F),
        ("http://256.0.0.1/", I),
        ("http://127.0.0.1.1/", I),
        ("http://4294967296/", I),
        // unicode that becomes digits and dots
        ("http://１２７．０．０．１/", F),
        ("http://①②⑦.⓪.⓪.①/", F),
        ("http://127。0。0。1/", F),
        ("http://127｡0｡0｡1/", F),
        ("http://𝟏𝟐𝟕.𝟎.𝟎.𝟏/", F),
        ("http://０ｘ７ｆ.1/", F),
        ("http://127.0.0.1\u{ad}/", F),
        // percent-encoded hosts
        ("http://127.0.0.%31/", F),
        ("http://%31%32%37.0.0.1/", F),
        ("http://127%2E0%2E0%2E1/", F),
        ("http://loc%61lhost/", F),
        ("http://127.0.0.1%00/", I),
        ("http://127.0.0.1%2f@example.org/", U),
        // private, shared, link-local and special IPv4
        ("http://10.0.0.1/", F),
        ("http://10.255.255.255/", F),
        ("http://167772161/", F),
        ("http://100.64.0.1/", F),
        ("http://100.127.255.255/", F),
        ("http://100.100.100.200/", F),
        ("http://169.254.169.254/latest/meta-data/", F),
        ("http://2852039166/", F),
        ("http://0xa9fea9fe/", F),
        ("http://0251.0376.0251.0376/", F),
        ("http://169.254.170.2/", F),
        ("http://168.63.129.16/", F),
        ("http://172.16.0.1/", F),
        ("http://172.31.255.255/", F),
        ("http://192.0.0.192/", F),
        ("http://192.0.2.1/", F),
        ("http://192.88.99.1/", F),
        ("http://192.168.0.1/", F),
        ("http://3232235521/", F),
        ("http://198.18.0.1/", F),
        ("http://198.19.255.255/", F),
        ("http://198.51.100.1/", F),
        ("http://203.0.113.1/", F),
        ("http://224.0.0.1/", F),
        ("http://239.255.255.255/", F),
        ("http://240.0.0.1/", F),
        ("http://255.255.255.255/", F),
        // IPv6
        ("http://[::]/", F),
        ("http://[::1]/", F),
        ("http://[0:0:0:0:0:0:0:1]/", F),
        ("http://[0000:0000:0000:0000:0000:0000:0000:0001]/", F),
        ("http://[::ffff:127.0.0.1]/", F),
        ("http://[::FFFF:7f00:1]/", F),
        ("http://[0:0:0:0:0:ffff:10.0.0.1]/", F),
        ("http://[::ffff:169.254.169.254]/", F),
        ("http://[::ffff:8.8.8.8]/", F),
        ("http://[::127.0.0.1]/", F),
        ("http://[::8.8.8.8]/", F),
        ("http://[64:ff9b::127.0.0.1]/", F),
        ("http://[64:ff9b::7f00:1]/", F),
        ("http://[64:ff9b::8.8.8.8]/", F),
        ("http://[64:ff9b:1::a00:1]/", F),
        ("http://[2002:7f00:1::]/", F),
        ("http://[2002:a00:1::1]/", F),
        ("http://[2002:808:808::1]/", F),
        ("http://[2001::1]/", F),
        ("http://[2001:0:7f00:1::]/", F),
        ("http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/", F),
        ("http://[2001:2::1]/", F),
        ("http://[2001:10::1]/", F),
        ("http://[2001:20::1]/", F),
        ("http://[2001:db8::1]/", F),
        ("http://[3fff::1]/", F),
        ("http://[5f00::1]/", F),
        ("http://[100::1]/", F),
        ("http://[fc00::1]/", F),
        ("http://[fd00:ec2::254]/", F),
        ("http://[fe80::1]/", F),
        ("http://[febf::1]/", F),
        ("http://[fec0::1]/", F),
        ("http://[ff02::1]/", F),
        ("http://[4000::1]/", F),
        ("http://[fe80::1%25eth0]/", I),
        ("http://[::1]:22/", F),
        // names of this machine and of private networks
        ("http://localhost/", F),
        ("http://LOCALHOST/", F),
        ("http://LocalHost:8080/", F),
        ("http://localhost./", F),
        ("http://ｌｏｃａｌｈｏｓｔ/", F),
        ("http://foo.localhost/", F),
        ("http://a.b.localhost./", F),
        ("http://localhost.localdomain/", F),
        ("http://localhost6/", F),
        ("http://ip6-localhost/", F),
        ("http://metadata.google.internal/computeMetadata/v1/", F),
        ("http://METADATA.google.internal./", F),
        ("http://metadata/", F),
        ("http://metadata.goog/", F),
        ("http://metadata.azure.internal/", F),
        ("http://instance-data/latest/", F),
        ("http://instance-data.ec2.internal/", F),
        ("http://ip-10-0-0-1.eu-west-1.compute.internal/", F),
        ("http://host.docker.internal/", F),
        ("http://kubernetes.default.svc/", F),
        ("http://kubernetes.default.svc.cluster.local/", F),
        ("http://printer.local/", F),
        ("http://router.lan/", F),
        ("http://nas.home.arpa/", F),
        // tricks with the parts of a URL
        ("http://example.org@127.0.0.1/", U),
        ("http://example.org:80@127.0.0.1/", U),
        ("http://example.org%40127.0.0.1/", I),
        ("http://127.0.0.1#@example.org/", F),
        ("http://127.0.0.1?@example.org/", F),
        ("http://127.0.0.1\\@example.org/", F),
        ("http:\\\\127.0.0.1\\", F),
        ("http:127.0.0.1", F),
        ("http:/127.0.0.1/", F),
        ("http:////127.0.0.1/", F),
        ("ht\ttp://127.0.0.1/", F),
        ("h\nttp://127.0.\n0.1/", F),
        ("HtTp://127.0.0.1/", F),
        ("  http://127.0.0.1/  ", F),
        ("//127.0.0.1/", F),
        ("127.0.0.1:8080/x", F),
        ("localhost:8080", F),
        ("file:///etc/passwd", S),
        ("FILE://localhost/etc/passwd", S),
        ("gopher://127.0.0.1:6379/_x", S),
        ("ftp://127.0.0.1/", S),
        ("dict://127.0.0.1:11211/", S),
        ("data:text/html,x", S),
        ("view-source:http://127.0.0.1/", S),
        // ports
        ("http://example.org:22/", F),
        ("http://example.org:25/", F),
        ("http://example.org:6379/", F),
        ("http://example.org:0/", F),
        ("http://8.8.8.8:53/", F),
        ("http://example.org:65536/", I),
        ("http://example.org:-1/", I),
    ];
    assert!(table.len() >= 80);
    let guard = guard(&[], &[]);
    for (text, code) in table {
        assert_eq!(refusal(&guard, text), Some(*code), "{text:?}");
    }
}

#[test]
fn public_urls_pass() {
    let guard = guard(&[], &[9000]);
    for text in [
        "http://example.org/",
        "https://example.org/",
        "https://example.org./",
        "http://example.org:8080/",
        "https://example.org:8443/",
        "http://example.org:9000/",
        "http://8.8.8.8/",
        "http://134744072/",
        "http://1.1.1.1/",
        "http://9.255.255.255/",
        "http://11.0.0.0/",
        "http://100.63.255.255/",
        "http://100.128.0.0/",
        "http://126.255.255.255/",
        "http://128.0.0.1/",
        "http://169.253.255.255/",
        "http://169.255.0.0/",
        "http://172.15.255.255/",
        "http://172.32.0.0/",
        "http://192.0.1.1/",
        "http://192.167.255.255/",
        "http://192.169.0.0/",
        "http://198.17.255.255/",
        "http://198.20.0.0/",
        "http://223.255.255.255/",
        "http://[2606:4700:4700::1111]/",
        "http://[2001:4860:4860::8888]/",
        "http://[2a00:1450::1]/",
        "http://notlocalhost/",
        "http://localhost.example.org/",
        "http://internal.example.org/",
        "http://mylocal/",
        "http://a.test/",
        "http://127.0.0.1.example.org/",
        "http://10.example.org/",
        "http://bücher.example/",
    ] {
        assert_eq!(refusal(&guard, text), None, "{text}");
    }
}

fn check(guard: &AddressGuard, ip: &str, port: u16) -> Result<(), AddressRefusal> {
    guard.check(ip.parse::<IpAddr>().unwrap(), port)
}

#[test]
fn a_resolved_address_is_refused_by_the_name_of_its_range() {
    let guard = guard(&[], &[]);
    for (ip, range) in [
        ("127.0.0.1", "loopback"),
        ("0.0.0.0", "unspecified"),
        ("10.1.2.3", "private"),
        ("169.254.169.254", "link-local"),
        ("100.64.0.1", "shared"),
        ("224.0.0.251", "multicast"),
        ("255.255.255.255", "reserved"),
        ("::1", "loopback"),
        ("::", "unspecified"),
        ("::ffff:127.0.0.1", "translated"),
        ("64:ff9b::7f00:1", "translated"),
        ("2002:7f00:1::", "translated"),
        ("2001::1", "translated"),
        ("fd00::1", "private"),
        ("fe80::1", "link-local"),
        ("ff02::1", "multicast"),
        ("2001:db8::1", "documentation"),
    ] {
        let refusal = check(&guard, ip, 443).unwrap_err();
        assert_eq!(refusal, AddressRefusal::NotPublic(range), "{ip}");
        assert!(!refusal.to_string().contains(ip), "{refusal}");
    }
    assert_eq!(check(&guard, "8.8.8.8", 443), Ok(()));
    assert_eq!(check(&guard, "8.8.8.8", 22), Err(AddressRefusal::Port(22)));
}

#[test]
fn an_allowed_network_is_open_on_every_port_and_nothing_else_is() {
    let guard = guard(&["127.0.0.0/8", "fd00:1::/32", "10.1.2.3"], &[]);
    for (ip, port, open) in [
        ("127.0.0.1", 80, true),
        ("127.3.2.1", 40_123, true),
        ("::ffff:127.0.0.1", 40_123, true),
        ("::127.0.0.1", 80, false),
        ("64:ff9b::7f00:1", 80, false),
        ("2002:7f00:1::", 80, false),
        ("::1", 80, false),
        ("fd00:1::5", 22, true),
        ("fd00:2::5", 80, false),
        ("10.1.2.3", 1, true),
        ("10.1.2.4", 80, false),
        ("127.0.0.1", 0, false),
        ("8.8.8.8", 22, false),
        ("8.8.8.8", 80, true),
    ] {
        assert_eq!(check(&guard, ip, port).is_ok(), open, "{ip}:{port}");
    }
}

#[test]
fn names_are_judged_by_what_the_allowed_networks_could_mean() {
    use ReasonCode::ForbiddenAddress as F;
    let loopback = guard(&["127.0.0.0/8"], &[]);
    let intranet = guard(&["10.0.0.0/8"], &[]);
    for (text, with_loopback, with_intranet) in [
        ("http://localhost:4000/", None, Some(F)),
        ("http://a.localhost/", None, Some(F)),
        ("http://wiki.corp.internal:9999/", None, None),
        ("http://a.test:31337/", None, None),
        ("http://metadata.google.internal/", Some(F), Some(F)),
        ("http://169.254.169.254/", Some(F), Some(F)),
        ("http://127.0.0.1:4000/", None, Some(F)),
        ("http://[::ffff:10.0.0.1]:4000/", Some(F), None),
        ("http://8.8.8.8:22/", Some(F), Some(F)),
    ] {
        assert_eq!(refusal(&loopback, text), with_loopback, "{text}");
        assert_eq!(refusal(&intranet, text), with_intranet, "{text}");
    }
    assert_eq!(
        refusal(&guard(&["::1/128"], &[]), "http://localhost/"),
        None
    );
    assert_eq!(
        refusal(&guard(&["::ffff:127.0.0.0/104"], &[]), "http://127.0.0.1/"),
        None
    );
}

#[test]
fn what_is_no_network_is_an_error_that_names_the_field() {
    for text in [
        "",
        "localhost",
        "10.0.0.0/33",
        "10.0.0/8",
        "fd00::/129",
        "*",
    ] {
        let spec = FetchSpec {
            allow_networks: vec![text.to_owned()],
            ..FetchSpec::default()
        };
        let error = AddressGuard::compile(&spec).unwrap_err();
        assert_eq!(error.field, "fetch.allow_networks");
        assert!(error.problem.contains(text));
    }
}

#[test]
fn every_url_of_every_scheme_can_be_asked_about() {
    let url = Url::parse("mailto:x@example.org").unwrap();
    assert!(guard(&[], &[]).check_url(&url).is_err());
}
