//! Which encoding a document is read in, and why.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::borrow::Cow;

use trawl_extract::charset::{CharsetSource, Decoded, decode};

fn check(bytes: &[u8], header: Option<&str>, encoding: &str, source: CharsetSource, text: &str) {
    let decoded = decode(bytes, header, None);
    assert_eq!(
        (decoded.encoding, decoded.source),
        (encoding, source),
        "{text}"
    );
    assert!(decoded.text.contains(text), "{text}: {}", decoded.text);
}

#[test]
fn a_byte_order_mark_beats_everything_and_is_removed() {
    let header = Some("text/html; charset=windows-1252");
    check(
        "\u{feff}<meta charset=gbk>ü".as_bytes(),
        header,
        "UTF-8",
        CharsetSource::Bom,
        "ü",
    );
    check(
        b"\xff\xfea\0\xfc\0",
        header,
        "UTF-16LE",
        CharsetSource::Bom,
        "aü",
    );
    check(
        b"\xfe\xff\0a\0\xfc",
        None,
        "UTF-16BE",
        CharsetSource::Bom,
        "aü",
    );
    assert_eq!(decode(b"\xef\xbb\xbfx", None, None).text, "x");
}

#[test]
fn the_header_beats_the_document() {
    let document = b"<meta charset=utf-8>\xfc";
    for header in [
        "text/html; charset=ISO-8859-1",
        "text/html;CHARSET=\"latin1\"",
        "text/html; x=y; charset='windows-1252' ; z",
    ] {
        check(
            document,
            Some(header),
            "windows-1252",
            CharsetSource::Header,
            "ü",
        );
    }
    for header in [
        "text/html",
        "text/html; charset=",
        "text/html; charset=nonsense",
        "",
        ";;=",
    ] {
        check(
            "<meta charset=utf-8>ü".as_bytes(),
            Some(header),
            "UTF-8",
            CharsetSource::Meta,
            "ü",
        );
    }
}

#[test]
fn the_document_may_declare_its_encoding() {
    for document in [
        &b"<meta charset=windows-1251>\xfe"[..],
        b"<META CHARSET='cp1251' />\xfe",
        b"<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>\xfe",
        b"<meta content='text/html;charset=\"cp1251\"' http-equiv=\"content-type\">\xfe",
        b"<!doctype html><!-- <meta charset=utf-8> --><html><head a='<meta charset=utf-8>'><meta charset=cp1251>\xfe",
        b"<meta name=x content='charset=utf-8'><meta charset=windows-1251>\xfe",
        b"<?xml version=\"1.0\" encoding=\"windows-1251\"?>\xfe",
        b"<!--><meta charset=cp1251>\xfe",
        b"<meta charset=nonsense><meta charset=cp1251>\xfe",
    ] {
        check(document, None, "windows-1251", CharsetSource::Meta, "ю");
    }
}

#[test]
fn declarations_that_cannot_be_true_are_corrected() {
    check(
        "<meta charset=utf-16>ü".as_bytes(),
        None,
        "UTF-8",
        CharsetSource::Meta,
        "ü",
    );
    check(
        b"<meta charset=x-user-defined>\xfc",
        None,
        "windows-1252",
        CharsetSource::Meta,
        "ü",
    );
    let utf16: Vec<u8> = "<?xml?>ü"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    check(&utf16, None, "UTF-16LE", CharsetSource::Meta, "ü");
}

#[test]
fn a_declaration_behind_the_first_1024_bytes_does_not_count() {
    let mut document = vec![b' '; 1024];
    document.extend_from_slice("<meta charset=windows-1251>ü".as_bytes());
    check(&document, None, "UTF-8", CharsetSource::Detected, "ü");
}

#[test]
fn undeclared_text_is_utf8_if_it_can_be_and_guessed_otherwise() {
    check(b"plain", None, "UTF-8", CharsetSource::Default, "plain");
    check(
        "grün".as_bytes(),
        None,
        "UTF-8",
        CharsetSource::Detected,
        "grün",
    );
    let (russian, _, _) = encoding_rs::WINDOWS_1251.encode("Привет, это русский текст о море");
    check(
        &russian,
        None,
        "windows-1251",
        CharsetSource::Detected,
        "русский",
    );
    let (japanese, _, _) = encoding_rs::SHIFT_JIS.encode("これは日本語の文章です。漢字とかな");
    check(
        &japanese,
        None,
        "Shift_JIS",
        CharsetSource::Detected,
        "日本語",
    );
    let cut = "grün".repeat(100);
    let decoded = decode(&cut.as_bytes()[..cut.len() - 2], None, None);
    assert_eq!(decoded.encoding, "UTF-8", "cut inside a character");
}

#[test]
fn the_top_level_domain_may_be_anything() {
    let (russian, _, _) = encoding_rs::WINDOWS_1251.encode("Привет, мир");
    for tld in ["ru", "RU", "рф", "co.uk", "", "xn--p1ai", "1", " ", "\0"] {
        let _ = decode(&russian, None, Some(tld));
    }
    assert_eq!(decode(&russian, None, Some("RU")).encoding, "windows-1251");
}

#[test]
fn valid_utf8_is_borrowed_and_damage_is_reported() {
    let borrowed = |decoded: &Decoded<'_>| matches!(decoded.text, Cow::Borrowed(_));
    let decoded = decode("ü".as_bytes(), Some("text/html; charset=utf-8"), None);
    assert!(borrowed(&decoded) && !decoded.had_errors);
    assert!(borrowed(&decode(
        b"ascii",
        Some("text/html; charset=latin1"),
        None
    )));
    let decoded = decode(b"a\xffb", Some("text/html; charset=utf-8"), None);
    assert!(decoded.had_errors);
    assert_eq!(decoded.text, "a\u{fffd}b");
}
