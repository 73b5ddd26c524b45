//! PDF files to Markdown and metadata.
//!
//! The parser is another's: it is given only files that a guard found reasonable, and should it
//! panic all the same, the file counts as damaged.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_inspector::{PdfError, PdfOptions, PdfProcessResult, process_pdf_mem_with_options};

use super::{Document, DocumentKind, TextDocument, pdf_guard, plain};
use crate::metadata::Date;
use crate::metadata::text::{clean, split_keywords};
use crate::warning::Warning;

const MAX_FILE_BYTES: usize = 64 * 1024 * 1024;
const MAX_PAGES: u32 = 2000;

/// Reads a PDF file. Junk before its header is usual and passed over.
pub(super) fn read(bytes: &[u8]) -> Document {
    let start = memchr::memmem::find(bytes, b"%PDF-").unwrap_or(0);
    let bytes = bytes.get(start..).unwrap_or_default();
    if bytes.len() > MAX_FILE_BYTES || !pdf_guard::is_reasonable(bytes) {
        return Document::TooLarge;
    }
    let options = PdfOptions::new().pages(1..=MAX_PAGES);
    let parsed = catch_unwind(AssertUnwindSafe(|| {
        process_pdf_mem_with_options(bytes, options)
    }));
    match parsed {
        Ok(Ok(parsed)) => Document::Text(Box::new(document(parsed))),
        Ok(Err(PdfError::Encrypted)) => Document::Encrypted,
        // What cannot be decrypted looks damaged to the parser.
        Ok(Err(_)) if memchr::memmem::find(bytes, b"/Encrypt").is_some() => Document::Encrypted,
        Ok(Err(_)) | Err(_) => Document::Damaged,
    }
}

fn document(parsed: PdfProcessResult) -> TextDocument {
    let text = plain::clean(&parsed.markdown.unwrap_or_default());
    let has_text = !text.is_empty();
    let mut document = TextDocument::new(DocumentKind::Pdf, text);
    let field = |text: Option<String>| text.as_deref().and_then(clean);
    document.title = field(parsed.title);
    let metadata = &mut document.metadata;
    metadata.author = field(parsed.author);
    metadata.authors = metadata.author.iter().cloned().collect();
    metadata.description = field(parsed.subject);
    metadata.generator = field(parsed.creator).or_else(|| field(parsed.producer));
    metadata.publish_date = parsed.creation_date.as_deref().and_then(Date::parse);
    metadata.modified_date = parsed.mod_date.as_deref().and_then(Date::parse);
    metadata.pages = Some(parsed.page_count);
    if let Some(keywords) = field(parsed.keywords) {
        split_keywords(&keywords, &mut metadata.keywords);
    }
    if parsed.page_count > MAX_PAGES {
        document.truncated = true;
        document.warnings.push(Warning::ContentTruncated);
    }
    if !has_text || !parsed.pages_needing_ocr.is_empty() {
        document.warnings.push(Warning::PagesWithoutText);
    }
    if parsed.has_encoding_issues {
        document.warnings.push(Warning::CharsetErrors);
    }
    document
}
