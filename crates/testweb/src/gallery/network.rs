//! The part of the gallery that is about statuses, redirects, time and the connection.

use std::time::Duration;

use super::{GalleryEntry, entry};
use crate::behaviour::Behaviour::{
    Busy, Fault, Flapping, Redirect as Redirects, Slow as Slowly, Status,
};
use crate::behaviour::failure::RetryAfter;
use crate::behaviour::fault::WireFault;
use crate::behaviour::redirect::Redirect;
use crate::behaviour::slow::Slow;

pub(super) fn entries() -> Vec<GalleryEntry> {
    let mut entries = redirects();
    entries.extend(redirects_to_forbidden_places());
    entries.extend(refusals());
    entries.extend(slowness());
    entries.extend(faults());
    entries
}

fn redirects() -> Vec<GalleryEntry> {
    let chain = |hops| Redirects(Redirect::Chain { hops });
    vec![
        entry(
            "redirect-chain-3",
            chain(3),
            "three redirects to a page",
            "fetched|redirected",
        ),
        entry(
            "redirect-chain-10",
            chain(10),
            "ten redirects to a page",
            "fetched|redirected",
        ),
        entry(
            "redirect-chain-11",
            chain(11),
            "eleven redirects",
            "too_many_redirects",
        ),
        entry(
            "redirect-chain-50",
            chain(50),
            "fifty redirects",
            "too_many_redirects",
        ),
        entry(
            "redirect-loop",
            Redirects(Redirect::Loop { length: 3 }),
            "a loop over three addresses",
            "redirect_loop",
        ),
        entry(
            "redirect-self",
            Redirects(Redirect::ToItself),
            "a redirect to itself",
            "redirect_loop",
        ),
        entry(
            "redirect-host",
            Redirects(Redirect::ToHost { host: 1 }),
            "a redirect to another host",
            "fetched|redirected|redirect_refused|dns_failure",
        ),
        entry(
            "redirect-slash*",
            Redirects(Redirect::AddSlash),
            "from /dir to /dir/",
            "fetched|redirected",
        ),
        entry(
            "redirect-nowhere",
            Redirects(Redirect::WithoutLocation),
            "a redirect without Location",
            "bad_redirect",
        ),
        entry(
            "redirect-garbage",
            Redirects(Redirect::Garbage),
            "a Location that is no address",
            "bad_redirect",
        ),
    ]
}

fn redirects_to_forbidden_places() -> Vec<GalleryEntry> {
    const REFUSED: &str = "address_refused|redirect_refused";
    const UNFIT: &str = "redirect_refused|bad_redirect";
    let to = |location: &str| Redirects(Redirect::to(location));
    vec![
        entry(
            "redirect-private-10",
            to("http://10.0.0.1/"),
            "to a private address",
            REFUSED,
        ),
        entry(
            "redirect-private-192",
            to("http://192.168.1.1/admin"),
            "to a private address",
            REFUSED,
        ),
        entry(
            "redirect-metadata",
            to("http://169.254.169.254/latest/meta-data/"),
            "to a metadata service",
            REFUSED,
        ),
        entry(
            "redirect-decimal",
            to("http://2852039166/"),
            "to a metadata service in decimal",
            REFUSED,
        ),
        entry(
            "redirect-mapped",
            to("http://[::ffff:10.0.0.1]/"),
            "to a private address mapped into IPv6",
            REFUSED,
        ),
        entry(
            "redirect-unspecified",
            to("http://0.0.0.0:22/"),
            "to the unspecified address",
            REFUSED,
        ),
        entry(
            "redirect-file",
            to("file:///etc/passwd"),
            "to a local file",
            UNFIT,
        ),
        entry(
            "redirect-javascript",
            to("javascript:alert(1)"),
            "to a script",
            UNFIT,
        ),
        entry(
            "redirect-data",
            to("data:text/html,<a href=/>x</a>"),
            "to a data address",
            UNFIT,
        ),
        entry(
            "redirect-userinfo",
            to("http://site0.test@10.0.0.1/"),
            "to a private address behind a user name",
            REFUSED,
        ),
    ]
}

fn refusals() -> Vec<GalleryEntry> {
    let busy = |status, retry_after| Busy {
        status,
        retry_after,
    };
    vec![
        entry("404", Status(404), "not found", "not_found"),
        entry("410", Status(410), "gone", "gone"),
        entry("403", Status(403), "forbidden", "client_error"),
        entry("418", Status(418), "an unusual refusal", "client_error"),
        entry(
            "429-seconds",
            busy(429, RetryAfter::Seconds(2)),
            "too many requests, come back in 2 seconds",
            "rate_limited",
        ),
        entry(
            "429-date",
            busy(429, RetryAfter::Date(2)),
            "too many requests, come back at a date",
            "rate_limited",
        ),
        entry(
            "429-unsaid",
            busy(429, RetryAfter::Unsaid),
            "too many requests, no word on when",
            "rate_limited",
        ),
        entry(
            "429-garbage",
            busy(429, RetryAfter::Garbage),
            "too many requests, nonsense on when",
            "rate_limited",
        ),
        entry(
            "429-for-ever",
            busy(429, RetryAfter::Seconds(1_000_000_000)),
            "too many requests, come back in 30 years",
            "rate_limited",
        ),
        entry("500", Status(500), "server error", "server_error"),
        entry(
            "503-seconds",
            busy(503, RetryAfter::Seconds(2)),
            "unavailable, come back in 2 seconds",
            "server_error",
        ),
        entry(
            "flapping",
            Flapping {
                failures: 2,
                status: 503,
            },
            "fails twice, then is a page",
            "fetched",
        ),
    ]
}

fn slowness() -> Vec<GalleryEntry> {
    let wait = Duration::from_mins(2);
    let interval = Duration::from_millis(200);
    vec![
        entry(
            "slow-headers",
            Slowly(Slow::Headers(wait)),
            "headers after two minutes",
            "headers_timeout|total_timeout",
        ),
        entry(
            "dripping-headers",
            Slowly(Slow::DrippingHeaders {
                interval: Duration::from_secs(1),
            }),
            "headers byte by byte",
            "headers_timeout|total_timeout",
        ),
        entry(
            "dripping-body",
            Slowly(Slow::DrippingBody {
                bytes: 100_000,
                interval,
            }),
            "a body byte by byte",
            "total_timeout|idle_timeout",
        ),
        entry(
            "stalled-body",
            Slowly(Slow::StalledBody),
            "half a body and then nothing",
            "idle_timeout|total_timeout",
        ),
        entry(
            "no-answer",
            Slowly(Slow::NoAnswer),
            "no answer at all",
            "headers_timeout|total_timeout",
        ),
        entry(
            "endless-body",
            Slowly(Slow::EndlessBody),
            "a body without end",
            "body_too_large|fetched",
        ),
    ]
}

fn faults() -> Vec<GalleryEntry> {
    const BROKEN: &str = "connection_reset|protocol_error";
    const SHORT: &str = "length_mismatch|connection_reset|protocol_error";
    vec![
        entry(
            "reset-early",
            Fault(WireFault::ResetBeforeHeaders),
            "a reset before the headers",
            "connection_reset",
        ),
        entry(
            "close-early",
            Fault(WireFault::CloseBeforeHeaders),
            "an end before the headers",
            BROKEN,
        ),
        entry(
            "close-in-headers",
            Fault(WireFault::CloseInHeaders),
            "an end within the headers",
            BROKEN,
        ),
        entry(
            "reset-in-body",
            Fault(WireFault::ResetInBody),
            "a reset within the body",
            "connection_reset|length_mismatch",
        ),
        entry(
            "length-too-long",
            Fault(WireFault::LengthTooLong),
            "a body shorter than promised",
            SHORT,
        ),
        entry(
            "length-too-short",
            Fault(WireFault::LengthTooShort),
            "a body longer than promised",
            "fetched|length_mismatch|protocol_error",
        ),
        entry(
            "two-lengths",
            Fault(WireFault::TwoLengths),
            "two lengths that differ",
            "protocol_error|length_mismatch",
        ),
        entry(
            "chunk-cut",
            Fault(WireFault::ChunkCut),
            "a chunk that breaks off",
            SHORT,
        ),
        entry(
            "chunk-garbage",
            Fault(WireFault::ChunkGarbage),
            "a chunk of no size",
            SHORT,
        ),
        entry(
            "garbage",
            Fault(WireFault::Garbage),
            "bytes that are no HTTP",
            "protocol_error",
        ),
        entry(
            "huge-headers",
            Fault(WireFault::HugeHeaders { bytes: 2 << 20 }),
            "two megabytes of headers",
            "protocol_error",
        ),
        entry(
            "endless-header",
            Fault(WireFault::EndlessHeader { bytes: 4 << 20 }),
            "one header of four megabytes",
            "protocol_error",
        ),
        entry(
            "bad-status",
            Fault(WireFault::BadStatus),
            "a status of four digits",
            "protocol_error",
        ),
        entry(
            "until-close",
            Fault(WireFault::UntilClose),
            "a page that ends with the connection",
            "fetched",
        ),
    ]
}
