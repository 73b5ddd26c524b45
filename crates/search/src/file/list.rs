//! Lists of documents: newest first, in pages, without their contents.

use rusqlite::{Connection, OptionalExtension, params, params_from_iter, types::Value};
use trawl_types::UnixMillis;
use uuid::Uuid;

use super::{
    IndexFile,
    read::{DocumentRow, document_sql, read_document},
};
use crate::{
    document::{DocSource, EVERYBODY},
    error::SearchError,
};

/// Which documents are listed.
#[derive(Debug, Clone, Default)]
pub struct DocumentFilter {
    pub collection: Option<Uuid>,
    /// Name of a tag.
    pub tag: Option<String>,
    /// A host; it stands for what is below it, too.
    pub domain: Option<String>,
    pub source: Option<DocSource>,
    pub language: Option<String>,
    /// In URL or title.
    pub text: Option<String>,
    pub from: Option<UnixMillis>,
    pub to: Option<UnixMillis>,
    /// Only those of these owners and of everybody; nothing for all.
    pub owners: Option<Vec<String>>,
    /// Only those that were deleted, instead of those that were not.
    pub deleted: bool,
    /// Those behind this one.
    pub after: Option<i64>,
    pub limit: u32,
}

/// A page of a list.
#[derive(Debug, Clone, Default)]
pub struct DocumentList {
    /// Without contents.
    pub documents: Vec<DocumentRow>,
    /// What follows begins after this.
    pub next: Option<i64>,
    /// How many there are on all pages.
    pub total: u64,
}

/// Conditions with their values, all of which must hold.
#[derive(Debug, Default)]
struct Conditions {
    sql: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    fn and(&mut self, sql: &str, values: impl IntoIterator<Item = Value>) {
        self.sql.push(sql.to_owned());
        self.values.extend(values);
    }

    fn all(&self) -> String {
        self.sql.join(" AND ")
    }
}

impl IndexFile {
    pub fn documents(&self, filter: &DocumentFilter) -> Result<DocumentList, SearchError> {
        self.reading(|reader| {
            let mut conditions = conditions(reader, filter)?;
            let count = format!(
                "SELECT count(*) FROM documents d WHERE {}",
                conditions.all()
            );
            let values = params_from_iter(&conditions.values);
            let total: i64 = reader.query_row(&count, values, |row| row.get(0))?;
            if let Some(after) = filter.after {
                conditions.and("d.id < ?", [Value::Integer(after)]);
            }
            let sql = format!(
                "{} WHERE {} ORDER BY d.id DESC LIMIT {}",
                document_sql(false),
                conditions.all(),
                filter.limit + 1
            );
            let mut statement = reader.prepare(&sql)?;
            let rows = statement.query_map(params_from_iter(&conditions.values), read_document)?;
            let mut documents = rows.collect::<Result<Vec<_>, _>>()?;
            let more = documents.len() > filter.limit as usize;
            documents.truncate(filter.limit as usize);
            let last = documents.last().map(|document| document.id);
            Ok(DocumentList {
                next: last.filter(|_| more),
                documents,
                total: total as u64,
            })
        })
    }
}

fn conditions(reader: &Connection, filter: &DocumentFilter) -> Result<Conditions, SearchError> {
    let mut all = Conditions::default();
    all.and(
        "(d.deleted_at IS NOT NULL) = ?",
        [Value::Integer(i64::from(filter.deleted))],
    );
    if let Some(collection) = filter.collection {
        let sql = "SELECT id FROM collections WHERE uuid = ?";
        let id = reader
            .query_row(sql, params![collection.as_bytes().as_slice()], |row| {
                row.get(0)
            })
            .optional()?;
        let unknown = || SearchError::Unknown {
            kind: "collection",
            name: collection.to_string(),
        };
        all.and(
            "d.collection = ?",
            [Value::Integer(id.ok_or_else(unknown)?)],
        );
    }
    if let Some(domain) = &filter.domain {
        let domain = domain.to_ascii_lowercase();
        all.and(
            "(d.domain = ? OR substr(d.domain, -length(?)) = ?)",
            [
                Value::Text(domain.clone()),
                Value::Text(format!(".{domain}")),
                Value::Text(format!(".{domain}")),
            ],
        );
    }
    if let Some(tag) = &filter.tag {
        let sql = "d.id IN (SELECT document FROM document_tags x JOIN tags t ON t.id = x.tag \
                   WHERE t.name = ?)";
        all.and(sql, [Value::Text(tag.trim().to_lowercase())]);
    }
    if let Some(source) = filter.source {
        all.and("d.source = ?", [Value::Integer(source as i64)]);
    }
    if let Some(language) = &filter.language {
        all.and(
            "d.language = ?",
            [Value::Text(language.to_ascii_lowercase())],
        );
    }
    if let Some(text) = &filter.text {
        // Not LIKE, whose wild cards would have to be taken out of what was typed.
        let sql = "(instr(lower(d.url), lower(?)) > 0 OR instr(lower(d.title), lower(?)) > 0)";
        all.and(sql, [Value::Text(text.clone()), Value::Text(text.clone())]);
    }
    if let Some(from) = filter.from {
        all.and("d.crawled_at >= ?", [Value::Integer(from.0)]);
    }
    if let Some(to) = filter.to {
        all.and("d.crawled_at < ?", [Value::Integer(to.0)]);
    }
    if let Some(owners) = &filter.owners {
        let places = vec!["?"; owners.len() + 1].join(", ");
        let sql = format!("d.id IN (SELECT document FROM owners WHERE owner IN ({places}))");
        let owners = owners.iter().map(String::as_str).chain([EVERYBODY]);
        all.and(&sql, owners.map(|owner| Value::Text(owner.to_owned())));
    }
    Ok(all)
}
