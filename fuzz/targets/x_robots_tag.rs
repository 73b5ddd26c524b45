//! A header value, read for our crawler and for another.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trawl_extract::parse_x_robots_tag;

fuzz_target!(|data: &[u8]| {
    let value = String::from_utf8_lossy(data);
    let ours = parse_x_robots_tag(&value, "trawl");
    assert_eq!(ours, parse_x_robots_tag(&value, "TRAWL"), "the case of a name matters");
    let _ = parse_x_robots_tag(&value, "");
});
