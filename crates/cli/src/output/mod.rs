//! Results as NDJSON, JSON, CSV or URLs: read from the result log by cursor, so that what is
//! written is exactly what is stored.
//!
//! * `fields`: which fields of a record are shown
//! * `besides`: what is known of a page besides its record
//! * `rows`: one record in one format
//! * `markdown`: a folder of Markdown files
//! * `spare`: files that must not be written over
//! * `terminal`: what a terminal may be shown

mod besides;
mod fields;
mod markdown;
mod rows;
mod spare;
mod terminal;

use std::{
    fs::{self, File},
    io::{self, BufWriter, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::sync::watch;
use trawl_engine::Progress;
use trawl_store::Store;
use trawl_types::{CrawlId, PageRecord, Sequence, spec::KeepSpec};

use crate::{
    args::{Format, OutputArgs},
    exit::BadInput,
};
use besides::Wanted;
pub(crate) use fields::Fields;
use markdown::MarkdownFolder;
use rows::LinkRows;
pub(crate) use rows::Rows;
pub(crate) use spare::resolved;
use terminal::Tame;

const PAGE_SIZE: u32 = 500;

/// Where results go and how.
#[derive(Debug)]
pub(crate) struct Sink {
    place: Place,
    format: Format,
    fields: Fields,
}

#[derive(Debug)]
enum Place {
    Stdout,
    File(PathBuf),
    Folder(PathBuf),
}

impl Sink {
    /// What the arguments ask for; without any, NDJSON if standard output is not a terminal.
    pub(crate) fn chosen(args: &OutputArgs) -> anyhow::Result<Option<Self>> {
        let asked = args.output.is_some() || args.format.is_some() || !args.fields.is_empty();
        if Self::is_nowhere(args) || (!asked && io::stdout().is_terminal()) {
            return Ok(None);
        }
        Self::stdout(args).map(Some)
    }

    /// Whether nothing is to be written.
    pub(crate) fn is_nowhere(args: &OutputArgs) -> bool {
        args.output.as_deref() == Some(Path::new("none"))
    }

    /// As [`Sink::chosen`], on standard output if nothing else is said.
    pub(crate) fn stdout(args: &OutputArgs) -> anyhow::Result<Self> {
        let place = match &args.output {
            None => Place::Stdout,
            Some(path) if path == Path::new("-") => Place::Stdout,
            Some(path) if path.is_dir() || path.to_string_lossy().ends_with('/') => {
                Place::Folder(path.clone())
            }
            Some(path) => Place::File(path.clone()),
        };
        let format = args
            .format
            .or_else(|| by_ending(&place))
            .unwrap_or(Format::Ndjson);
        let fields = Fields::parse(&args.fields)?;
        if format == Format::Markdown && !matches!(place, Place::Folder(_)) {
            let message = "--format markdown writes a file for each page: name a folder, \
                           such as --output pages/";
            return Err(BadInput(message.into()).into());
        }
        Ok(Self {
            place,
            format,
            fields,
        })
    }

    /// Shows by default what a crawl keeps: whoever keeps Markdown wants to see it. Bodies and
    /// cells of tables would be too much.
    pub(crate) fn showing(mut self, keep: KeepSpec, args: &OutputArgs) -> Self {
        let structured = matches!(self.format, Format::Ndjson | Format::Json);
        if args.fields.is_empty() && structured && keep.content() {
            let kept = [(keep.markdown, "markdown"), (keep.text, "text")];
            let names = kept.iter().filter(|(kept, _)| *kept).map(|(_, name)| *name);
            let names: Vec<_> = names.chain(["metadata", "word_count"]).collect();
            self.fields.show(&names);
        }
        self
    }

    /// Opens the place, so that a path that cannot be written is found before a crawl begins. What
    /// is there stays until a follower is made: the crawl may yet be refused.
    pub(crate) fn open(self, database: &Path) -> anyhow::Result<Opened> {
        let mut links = None;
        let mut markdown = None;
        let mut begun = Vec::new();
        let mut create = |path: &Path| {
            spare::must_be_spare(path, database)?;
            let file = create(path)?;
            begun.push(file.try_clone()?);
            anyhow::Ok(file)
        };
        let out: Box<dyn Write + Send> = match &self.place {
            Place::Folder(folder) if self.format == Format::Markdown => {
                create_folder(folder, database)?;
                markdown = Some(MarkdownFolder::new(folder.clone()));
                Box::new(create(&folder.join("pages.ndjson"))?)
            }
            Place::Stdout if io::stdout().is_terminal() => Box::new(Tame::new(io::stdout())),
            Place::Stdout => Box::new(io::stdout()),
            Place::File(path) => Box::new(create(path)?),
            Place::Folder(folder) => {
                create_folder(folder, database)?;
                links = Some(LinkRows::new(create(&folder.join("links.ndjson"))?));
                Box::new(create(
                    &folder.join(format!("pages.{}", ending(self.format))),
                )?)
            }
        };
        let is_stdout = matches!(self.place, Place::Stdout);
        let name = match &self.place {
            Place::Stdout => "standard output".to_owned(),
            Place::File(path) | Place::Folder(path) => path.display().to_string(),
        };
        let rows = Rows::new(
            self.format,
            self.fields,
            BufWriter::with_capacity(1 << 16, out),
        )?;
        Ok(Opened {
            rows,
            links,
            markdown,
            is_stdout,
            name,
            begun,
        })
    }
}

/// A place that is ready to be written to.
pub(crate) struct Opened {
    rows: Rows,
    links: Option<LinkRows>,
    markdown: Option<MarkdownFolder>,
    is_stdout: bool,
    name: String,
    /// The files, as they were left by whoever wrote them last.
    begun: Vec<File>,
}

impl Opened {
    pub(crate) fn is_stdout(&self) -> bool {
        self.is_stdout
    }

    /// Results of a crawl after the cursor will be written, in place of what was there.
    pub(crate) fn follower(self, crawl: CrawlId, after: i64) -> io::Result<Follower> {
        for file in &self.begun {
            // Pipes and devices have no length.
            if file.metadata()?.is_file() {
                file.set_len(0)?;
            }
        }
        Ok(Follower {
            crawl,
            after: Sequence(after),
            rows: self.rows,
            links: self.links,
            markdown: self.markdown,
            is_on_terminal: self.is_stdout && io::stdout().is_terminal(),
            name: self.name,
        })
    }
}

/// Opens a file to be written, and leaves what it holds.
fn create(path: &Path) -> anyhow::Result<File> {
    let mut options = File::options();
    let options = options.write(true).create(true).truncate(false);
    options
        .open(path)
        .map_err(|error| cannot_write(path, &error))
}

fn create_folder(folder: &Path, database: &Path) -> anyhow::Result<()> {
    spare::must_be_spare(folder, database)?;
    fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))
}

fn cannot_write(path: &Path, error: &io::Error) -> anyhow::Error {
    BadInput(format!(
        "--output: cannot write {}: {error}",
        path.display()
    ))
    .into()
}

fn by_ending(place: &Place) -> Option<Format> {
    let Place::File(path) = place else {
        return None;
    };
    match path.extension()?.to_str()? {
        "csv" => Some(Format::Csv),
        "json" => Some(Format::Json),
        "txt" | "urls" => Some(Format::Urls),
        _ => None,
    }
}

fn ending(format: Format) -> &'static str {
    match format {
        Format::Ndjson => "ndjson",
        Format::Json => "json",
        Format::Csv => "csv",
        Format::Urls => "txt",
        Format::Markdown => "md",
    }
}

/// Writes one record with whatever its fields ask for.
pub(crate) async fn write_record(
    rows: &mut Rows,
    store: &dyn Store,
    crawl: CrawlId,
    record: &PageRecord,
) -> anyhow::Result<()> {
    let besides = Wanted::of_rows(rows, false)
        .of(store, crawl, record)
        .await?;
    Ok(rows.write(record, &besides)?)
}

/// Writes the result log as it grows.
pub(crate) struct Follower {
    crawl: CrawlId,
    after: Sequence,
    rows: Rows,
    /// Only in a folder.
    links: Option<LinkRows>,
    /// Only in a folder of Markdown.
    markdown: Option<MarkdownFolder>,
    is_on_terminal: bool,
    /// What people call the place.
    name: String,
}

impl Follower {
    pub(crate) fn is_on_terminal(&self) -> bool {
        self.is_on_terminal
    }

    /// Follows a crawl until its progress channel closes, then writes what is left.
    pub(crate) async fn follow(
        mut self,
        store: Arc<dyn Store>,
        mut progress: watch::Receiver<Progress>,
    ) -> anyhow::Result<()> {
        while progress.changed().await.is_ok() {
            let reaches = progress.borrow_and_update().last_seq;
            if reaches > self.after.0 {
                let written = self.write_new(store.as_ref()).await;
                written.map_err(|error| named(error, &self.name))?;
            }
        }
        self.write_all(store.as_ref()).await
    }

    /// Writes everything after the cursor and closes the output.
    pub(crate) async fn write_all(mut self, store: &dyn Store) -> anyhow::Result<()> {
        let name = std::mem::take(&mut self.name);
        let written = self.write_rest(store).await;
        written.map_err(|error| named(error, &name))
    }

    async fn write_rest(mut self, store: &dyn Store) -> anyhow::Result<()> {
        self.write_new(store).await?;
        if let Some(rows) = &mut self.links {
            rows.flush()?;
        }
        Ok(self.rows.finish()?)
    }

    async fn write_new(&mut self, store: &dyn Store) -> anyhow::Result<()> {
        let wanted = Wanted::of_rows(&self.rows, self.links.is_some());
        loop {
            let records = store.results(self.crawl, self.after, PAGE_SIZE).await?;
            for record in &records {
                let besides = wanted.of(store, self.crawl, record).await?;
                self.rows.write(record, &besides)?;
                if let Some(rows) = &mut self.links {
                    rows.write(&record.url, &besides.links)?;
                }
                self.after = record.seq;
            }
            if let Some(folder) = &self.markdown {
                folder.write(store, self.crawl, &records).await?;
            }
            if records.len() < PAGE_SIZE as usize {
                return Ok(self.rows.flush()?);
            }
        }
    }
}

/// An error says what could not be written; one of the store says enough.
fn named(error: anyhow::Error, name: &str) -> anyhow::Error {
    if error.is::<io::Error>() {
        error.context(format!("cannot write to {name}"))
    } else {
        error
    }
}
