//! Texts from strangers as columns. PostgreSQL takes every character but NUL, so that one is written
//! as two others: U+10FFFE, which is no character and hardly ever seen, and a digit.

use std::{borrow::Cow, error::Error};

use bytes::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

const ESCAPE: char = '\u{10fffe}';

/// A text on its way in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'t>(pub(super) &'t str);

/// A text on its way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heard(pub(super) String);

fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        match char {
            '\0' => safe.extend([ESCAPE, '0']),
            ESCAPE => safe.extend([ESCAPE, '1']),
            other => safe.push(other),
        }
    }
    Cow::Owned(safe)
}

fn unescaped(safe: &str) -> String {
    if !safe.contains(ESCAPE) {
        return safe.to_owned();
    }
    let mut text = String::with_capacity(safe.len());
    let mut chars = safe.chars();
    while let Some(char) = chars.next() {
        match char {
            ESCAPE => match chars.next() {
                Some('0') => text.push('\0'),
                _ => text.push(ESCAPE),
            },
            other => text.push(other),
        }
    }
    text
}

impl ToSql for Said<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        escaped(self.0).to_sql(ty, out)
    }

    fn accepts(ty: &Type) -> bool {
        <&str as ToSql>::accepts(ty)
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Heard {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        <&str>::from_sql(ty, raw).map(|safe| Self(unescaped(safe)))
    }

    fn accepts(ty: &Type) -> bool {
        <&str as FromSql>::accepts(ty)
    }
}

/// For columns that may be empty.
pub(super) fn said(text: Option<&String>) -> Option<Said<'_>> {
    text.map(|text| Said(text))
}

pub(super) fn heard(text: Option<Heard>) -> Option<String> {
    text.map(|text| text.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_text_survives_and_none_has_a_nul_inside(text in "(\\PC|\0|\u{10fffe}|0|1){0,20}") {
            let safe = escaped(&text);
            prop_assert!(!safe.contains('\0'));
            prop_assert_eq!(unescaped(&safe), text);
        }
    }
}
