//! A folder of Markdown files with front matter, one for each page. What pages say never becomes a
//! path or a line of the front matter as it stands.

use std::{
    collections::VecDeque,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    thread::available_parallelism,
};

use serde_json::Value;
use tokio::task::JoinHandle;
use trawl_extract::page_content;
use trawl_store::Store;
use trawl_types::{CrawlId, PageRecord, record::PageContent};
use url::Url;

/// Characters of an address that a file name repeats.
const SLUG: usize = 80;
/// Names that mean devices on Windows, also with an ending.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];

#[derive(Debug, Clone)]
pub(super) struct MarkdownFolder(PathBuf);

impl MarkdownFolder {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Writes the pages among the records whose Markdown is kept, or whose bodies are.
    pub(super) async fn write(
        &self,
        store: &dyn Store,
        crawl: CrawlId,
        records: &[PageRecord],
    ) -> anyhow::Result<()> {
        let most = available_parallelism().map_or(1, usize::from) * 2;
        let mut under_way = VecDeque::new();
        for record in records.iter().filter(|record| record.outcome.is_page()) {
            let Some(kept) = kept(store, crawl, record).await? else {
                continue;
            };
            if under_way.len() >= most {
                finish_first(&mut under_way).await?;
            }
            let (folder, record) = (self.clone(), record.clone());
            let writing = move || folder.write_page(&record, kept);
            under_way.push_back(tokio::task::spawn_blocking(writing));
        }
        while !under_way.is_empty() {
            finish_first(&mut under_way).await?;
        }
        Ok(())
    }

    fn write_page(&self, record: &PageRecord, kept: Kept) -> io::Result<()> {
        let page = match kept {
            Kept::Content(content) => Some(*content),
            Kept::Body(body) => page_content(record, &body),
        };
        let Some(page) = page else { return Ok(()) };
        let path = self.0.join(file_name(&record.url));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, with_front_matter(record, &page))
    }
}

/// What Markdown can be made of.
enum Kept {
    Content(Box<PageContent>),
    Body(Vec<u8>),
}

async fn kept(
    store: &dyn Store,
    crawl: CrawlId,
    record: &PageRecord,
) -> anyhow::Result<Option<Kept>> {
    if record.has_content
        && let Some(content) = super::besides::content(store, crawl, record).await?
        && content.markdown.is_some()
    {
        return Ok(Some(Kept::Content(Box::new(content))));
    }
    Ok(store.body(crawl, record.seq).await?.map(Kept::Body))
}

async fn finish_first(under_way: &mut VecDeque<JoinHandle<io::Result<()>>>) -> anyhow::Result<()> {
    if let Some(first) = under_way.pop_front() {
        first.await??;
    }
    Ok(())
}

/// A folder for the host and a name made of the path, with a hash that tells equal ones apart.
fn file_name(address: &str) -> PathBuf {
    let hash = trawl_extract::content_hash(address);
    let tail = u64::from_be_bytes([0, 0, 0, hash[0], hash[1], hash[2], hash[3], hash[4]]);
    let tail = format!("{tail:010x}");
    let (host, path) = match Url::parse(address) {
        Ok(url) => {
            let host = url.host_str().unwrap_or("no-host").to_owned();
            let port = url.port().map(|port| format!("_{port}"));
            (host + &port.unwrap_or_default(), url.path().to_owned())
        }
        Err(_) => ("no-host".to_owned(), address.to_owned()),
    };
    let slug = slug(&path);
    let name = match slug.as_str() {
        "" => format!("index-{tail}.md"),
        slug => format!("{slug}-{tail}.md"),
    };
    Path::new(&folder_name(&host)).join(name)
}

fn folder_name(host: &str) -> String {
    let keep = |c: char| match c {
        'a'..='z' | '0'..='9' | '-' | '.' | '_' => c,
        _ => '_',
    };
    let name: String = host
        .to_ascii_lowercase()
        .chars()
        .map(keep)
        .take(200)
        .collect();
    let name = name.trim_matches('.').to_owned();
    let first = name.split('.').next().unwrap_or_default();
    let device = RESERVED.contains(&first)
        || ((first.starts_with("com") || first.starts_with("lpt")) && first.len() == 4);
    if name.is_empty() || device {
        format!("_{name}")
    } else {
        name
    }
}

/// Letters and digits of a path, whatever else is in it.
fn slug(path: &str) -> String {
    let mut slug = String::new();
    for c in path.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= SLUG {
            break;
        }
    }
    slug.trim_end_matches('-').to_owned()
}

fn with_front_matter(record: &PageRecord, page: &PageContent) -> String {
    let about = |name: &str| {
        page.metadata
            .get(name)
            .filter(|value| !value.is_null())
            .cloned()
    };
    let title = page.title.clone().or_else(|| record.title.clone());
    let fields = [
        ("url", Some(Value::from(record.url.clone()))),
        ("title", title.map(Value::from)),
        ("description", about("description")),
        ("author", about("author")),
        ("published", about("publish_date")),
        ("modified", about("modified_date")),
        ("language", page.language.clone().map(Value::from)),
        ("license", about("license")),
        ("words", Some(Value::from(page.word_count))),
        ("crawled_at", Some(Value::from(record.crawled_at.iso()))),
        ("truncated", page.truncated.then_some(Value::Bool(true))),
    ];
    let mut text = String::from("---\n");
    for (name, value) in fields {
        if let Some(value) = value {
            // JSON is YAML, and a JSON string is always one line.
            let _ = writeln!(text, "{name}: {value}");
        }
    }
    text.push_str("---\n\n");
    text.push_str(page.markdown.as_deref().unwrap_or_default().trim());
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_on_every_system_and_differ_where_addresses_do() {
        let name = |url: &str| file_name(url).to_string_lossy().into_owned();
        assert!(name("https://example.org/").starts_with("example.org/index-"));
        let odd = name("http://con.test:8080/../A%20b/%2e%2e/c:d|e?x=\"<>*");
        assert!(odd.starts_with("_con.test_8080/c-d-e-"), "{odd}");
        let safe = |c: char| c.is_ascii_alphanumeric() || "-._/".contains(c);
        for url in [
            "http://[::1]/x",
            "http://\u{fc}.test/\u{e9}",
            "nonsense: ../../etc",
        ] {
            assert!(name(url).chars().all(safe), "{}", name(url));
            assert!(!name(url).contains(".."), "{}", name(url));
        }
        assert_ne!(name("https://a.test/x?p=1"), name("https://a.test/x?p=2"));
        assert!(name(&format!("https://a.test/{}", "x".repeat(2000))).len() < 120);
    }
}
