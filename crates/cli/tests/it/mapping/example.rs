//! The example that people are told to begin with does what it says.

use std::path::Path;

use trawl_testweb::WebSpec;

use super::{
    MapData,
    truth::{told, truth},
};
use crate::harness::{Trawl, Web};

const EXAMPLE: &str = include_str!("../../../../../examples/test-web.toml");
/// Where the example expects the test web.
const PORT: &str = "8480";

/// The example as it is, but for a port that is surely free and a folder that goes away.
fn write_example(folder: &Path, web: &Web) -> std::path::PathBuf {
    let port = web.addr().port().to_string();
    let output = format!("\"{}/", folder.display());
    let text = EXAMPLE.replace(PORT, &port).replace("\"./", &output);
    let path = folder.join("test-web.toml");
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn the_example_maps_the_test_web() {
    let folder = tempfile::tempdir().unwrap();
    let web = Web::start(WebSpec {
        cross_host_share: 0.3,
        ..WebSpec::many_hosts(8, 200)
    });
    let config = write_example(folder.path(), &web);
    Trawl::new("map").arg(&config).run().expect_code(0);
    let data = MapData::open(&folder.path().join("test-web.db"));
    let expected = truth(&web, 1);
    assert!(expected.states.len() > 100, "{}", expected.states.len());
    let mut found = told(&data);
    // An origin is named as the configuration names it.
    found.depths = found
        .depths
        .into_iter()
        .map(|((url, origin), depth)| ((url, origin.replace("*.", "")), depth))
        .collect();
    assert_eq!(found, expected);
    assert!(folder.path().join("test-web.md").exists());
}
