//! The contract changes only on purpose: `TRAWL_BLESS=1 cargo test -p trawl-api` writes it anew.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]

use serde_json::Value;

fn file() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json")
}

#[test]
fn the_contract_is_the_one_that_was_agreed_upon() {
    let now = serde_json::to_string_pretty(&trawl_api::openapi()).unwrap() + "\n";
    if std::env::var_os("TRAWL_BLESS").is_some() {
        std::fs::write(file(), &now).unwrap();
    }
    let agreed = std::fs::read_to_string(file()).unwrap_or_default();
    assert!(
        now == agreed,
        "the contract has changed: look at `TRAWL_BLESS=1 cargo test -p trawl-api` and git diff"
    );
}

#[test]
fn every_endpoint_has_a_summary_and_every_body_an_example() {
    let contract = serde_json::to_value(trawl_api::openapi()).unwrap();
    for (path, methods) in contract["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            assert!(operation["summary"].is_string(), "{method} {path}");
            let Some(schema) = operation.pointer("/requestBody/content/application~1json/schema")
            else {
                continue;
            };
            let name = schema["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
            let example = &contract["components"]["schemas"][name]["example"];
            assert_ne!(example, &Value::Null, "{method} {path}: {name}");
        }
    }
}
