//! A file in parts: for S3, what is larger than one request may bring. An upload that fails is given up,
//! so that nobody pays for what is left of it.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use hyper::Method;
use sha2::{Digest, Sha256};

use super::{
    bucket::{Bucket, Payload, body_of},
    packed::Facts,
    signature::{encoded, hex},
};

/// By the rules of S3.
const MOST_PARTS: u64 = 10_000;

/// Parts of about this size, or of as much more as it takes to have few enough.
fn part_size(bytes: u64, wanted: u64) -> u64 {
    wanted.max(bytes.div_ceil(MOST_PARTS)).max(1)
}

pub(super) async fn send(
    bucket: &Bucket,
    path: &str,
    source: &Path,
    file: &Facts,
    wanted: u64,
) -> anyhow::Result<()> {
    let begun = bucket.ask(Method::POST, path, "uploads=", Some(file), Payload::none());
    let said = bucket.must_be_well(path, begun.await?).await?;
    let upload = between(&said, "<UploadId>", "</UploadId>");
    let upload = upload.ok_or_else(|| anyhow::anyhow!("{path}: the store named no upload"))?;
    let upload = format!(
        "uploadId={}",
        encoded(&unescaped(upload)).replace('/', "%2F")
    );
    let sent = send_parts(bucket, path, source, file, wanted, &upload).await;
    if sent.is_err() {
        let given_up = bucket
            .ask(Method::DELETE, path, &upload, None, Payload::none())
            .await;
        if let Err(error) = given_up {
            tracing::warn!(%error, path, "parts of an upload that failed may be left in the store");
        }
    }
    sent
}

async fn send_parts(
    bucket: &Bucket,
    path: &str,
    source: &Path,
    file: &Facts,
    wanted: u64,
    upload: &str,
) -> anyhow::Result<()> {
    let size = part_size(file.bytes, wanted);
    let mut all = String::from("<CompleteMultipartUpload>");
    for (number, from) in (1..).zip((0..file.bytes).step_by(usize::try_from(size)?)) {
        let bytes = size.min(file.bytes - from);
        let place = source.to_owned();
        let sha256 = tokio::task::spawn_blocking(move || sum_of(&place, from, bytes)).await??;
        let payload = Payload {
            bytes,
            sha256,
            body: body_of(source, from, bytes)?,
        };
        let query = format!("partNumber={number}&{upload}");
        let sent = bucket.ask(Method::PUT, path, &query, None, payload).await?;
        let tag = sent.headers().get("etag").and_then(|tag| tag.to_str().ok());
        let tag = tag.map(str::to_owned);
        bucket.must_be_well(path, sent).await?;
        let tag = tag.ok_or_else(|| anyhow::anyhow!("{path}: part {number} has no ETag"))?;
        let tag = escaped(&tag);
        let part = format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>");
        all.push_str(&part);
    }
    all.push_str("</CompleteMultipartUpload>");
    let whole = bucket.ask(Method::POST, path, upload, None, Payload::text(all));
    bucket.must_be_well(path, whole.await?).await?;
    Ok(())
}

fn sum_of(path: &Path, from: u64, bytes: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut file = file.take(bytes);
    let (mut sum, mut piece) = (Sha256::new(), vec![0; 64 * 1024]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex(&sum.finalize())),
            read => sum.update(&piece[..read]),
        }
    }
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let rest = text.split_once(start)?.1;
    Some(rest.split_once(end)?.0).filter(|found| !found.is_empty())
}

const ENTITIES: [(&str, &str); 4] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&amp;", "&"),
];

fn unescaped(text: &str) -> String {
    let all = ENTITIES.iter();
    all.fold(text.to_owned(), |text, (entity, plain)| {
        text.replace(entity, plain)
    })
}

fn escaped(text: &str) -> String {
    let all = ENTITIES.iter().rev();
    all.fold(text.to_owned(), |text, (entity, plain)| {
        text.replace(plain, entity)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_large_a_file_is_there_are_few_enough_parts() {
        let gib = 1 << 30;
        assert_eq!(part_size(6 * gib, 256 << 20), 256 << 20);
        for bytes in [6 * gib, 5_000 * gib, 5_120 * gib, 5_120 * gib + 1] {
            let size = part_size(bytes, 256 << 20);
            assert!(bytes.div_ceil(size) <= MOST_PARTS, "{bytes}");
        }
    }

    #[test]
    fn texts_of_the_store_are_read_and_written_as_xml() {
        assert_eq!(
            between(
                "<a><UploadId>x&amp;y</UploadId>",
                "<UploadId>",
                "</UploadId>"
            ),
            Some("x&amp;y")
        );
        assert_eq!(
            between("<UploadId></UploadId>", "<UploadId>", "</UploadId>"),
            None
        );
        assert_eq!(unescaped("x&amp;lt;&lt;"), "x&lt;<");
        assert_eq!(unescaped(&escaped("\"a&b\"")), "\"a&b\"");
    }
}
