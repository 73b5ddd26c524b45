//! Where archives go that are not kept on this machine: an S3-compatible store. The endpoint and the keys
//! come from the environment, by the names that other programs know.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt, Collected, Limited, StreamBody, combinators::BoxBody};
use hyper::{
    Method, Request, Response,
    body::{Frame, Incoming},
};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use sha2::{Digest, Sha256};
use trawl_search::embed::remote::Connector;
use url::Url;

use super::{
    packed::Facts,
    parts,
    signature::{Credentials, Unsigned, encoded, hex, sign},
};
use crate::{exit::BadInput, settings::environment};

/// What is sent in one request. One may bring 5 GiB, by the rules of S3, but what fails is sent again.
const PART: u64 = 256 << 20;
const CHUNK: usize = 256 * 1024;
/// Of what a store says when it refuses something.
const TOLD: usize = 64 * 1024;
const PATIENCE: Duration = Duration::from_hours(2);

type Body = BoxBody<Bytes, io::Error>;

/// A place in a bucket: `s3://bucket/prefix`.
pub(super) struct Bucket {
    client: Client<Connector, Body>,
    scheme: String,
    /// As it is signed: with the port, if it is not the usual one.
    host: String,
    /// Before the names of files, encoded, with a slash at both ends.
    base: String,
    who: Credentials,
    name: String,
    /// Files that are larger are sent in parts.
    part: u64,
}

/// What a request brings.
pub(super) struct Payload {
    pub(super) bytes: u64,
    pub(super) sha256: String,
    pub(super) body: Body,
}

impl Payload {
    pub(super) fn none() -> Self {
        Self::text(String::new())
    }

    pub(super) fn text(text: String) -> Self {
        let (bytes, sha256) = (text.len() as u64, hex(&Sha256::digest(text.as_bytes())));
        let piece = (bytes > 0).then(|| Ok(Frame::data(Bytes::from(text))));
        Self {
            bytes,
            sha256,
            body: BoxBody::new(StreamBody::new(stream::iter(piece))),
        }
    }
}

impl Bucket {
    pub(super) fn parse(output: &str) -> Option<(&str, &str)> {
        let rest = output.strip_prefix("s3://")?;
        Some(rest.split_once('/').unwrap_or((rest, "")))
    }

    pub(super) fn open(bucket: &str, prefix: &str) -> anyhow::Result<Self> {
        let usable = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
        if bucket.len() < 3 || !bucket.chars().all(usable) {
            return Err(BadInput(format!("--output: {bucket:?} is no name of a bucket")).into());
        }
        let who = Credentials {
            key: required("AWS_ACCESS_KEY_ID")?,
            secret: required("AWS_SECRET_ACCESS_KEY")?,
            token: variable("AWS_SESSION_TOKEN"),
            region: variable("AWS_REGION").unwrap_or_else(|| "us-east-1".into()),
        };
        // Stores of one's own are asked by path, Amazon by name.
        let (endpoint, inside) = match variable("AWS_ENDPOINT_URL") {
            Some(endpoint) => (endpoint, format!("/{bucket}")),
            None => (
                format!("https://{bucket}.s3.{}.amazonaws.com", who.region),
                String::new(),
            ),
        };
        let wrong = |why: &str| BadInput(format!("AWS_ENDPOINT_URL: {why}"));
        let url = Url::parse(&endpoint).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("it must begin with http:// or https://").into());
        }
        let host = url.host_str().ok_or_else(|| wrong("it names no host"))?;
        let host = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let prefix = prefix.trim_matches('/');
        let slash = if prefix.is_empty() { "" } else { "/" };
        Ok(Self {
            client: Client::builder(TokioExecutor::new()).build(Connector::new()?),
            scheme: url.scheme().to_owned(),
            host,
            base: encoded(&format!(
                "{}{inside}/{prefix}{slash}",
                url.path().trim_end_matches('/')
            )),
            who,
            name: format!("s3://{bucket}/{prefix}"),
            part: part_size()?,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Sends a file, and asks for it again: it must be there in full, with its checksum.
    pub(super) async fn put(&self, folder: &Path, place: &str, file: &Facts) -> anyhow::Result<()> {
        let path = format!(
            "{}{}",
            self.base,
            encoded(&format!("{place}/{}", file.name))
        );
        let source = folder.join(&file.name);
        if file.bytes > self.part {
            parts::send(self, &path, &source, file, self.part).await?;
        } else {
            let payload = Payload {
                bytes: file.bytes,
                sha256: file.sha256.clone(),
                body: body_of(&source, 0, file.bytes)?,
            };
            let sent = self.ask(Method::PUT, &path, "", Some(file), payload);
            self.must_be_well(&path, sent.await?).await?;
        }
        self.must_be_there(&path, file).await
    }

    async fn must_be_there(&self, path: &str, file: &Facts) -> anyhow::Result<()> {
        let head = self
            .ask(Method::HEAD, path, "", None, Payload::none())
            .await?;
        let said = |name: &str| {
            let value = head.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        let bytes = said("content-length").and_then(|text| text.parse().ok());
        let sha256 = said("x-amz-meta-sha256");
        anyhow::ensure!(
            head.status().is_success()
                && bytes == Some(file.bytes)
                && sha256.as_deref() == Some(file.sha256.as_str()),
            "{} is not in {} as it was sent: nothing was removed",
            file.name,
            self.name
        );
        Ok(())
    }

    /// `described` says what an object will be, where this request makes one.
    pub(super) async fn ask(
        &self,
        method: Method,
        path: &str,
        query: &str,
        described: Option<&Facts>,
        payload: Payload,
    ) -> anyhow::Result<Response<Incoming>> {
        let at = chrono::Utc::now().format("%Y%m%dT%H%M%SZ").to_string();
        let mut headers = Vec::new();
        if method == Method::PUT || method == Method::POST {
            headers.push(("content-length", payload.bytes.to_string()));
        }
        if let Some(file) = described {
            headers.push(("x-amz-meta-sha256", file.sha256.clone()));
        }
        let unsigned = Unsigned {
            method: method.as_str(),
            host: &self.host,
            path,
            query,
            sha256: &payload.sha256,
            at: &at,
            headers,
        };
        let mark = if query.is_empty() { "" } else { "?" };
        let uri = format!("{}://{}{path}{mark}{query}", self.scheme, self.host);
        let mut request = Request::builder().method(method.clone()).uri(uri);
        for (name, value) in sign(unsigned, &self.who) {
            request = request.header(name, value);
        }
        let answer = self.client.request(request.body(payload.body)?);
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => anyhow::bail!("{}: {error}", self.name),
            Err(_) => anyhow::bail!("{}: no answer in time", self.name),
        }
    }

    /// What the store says, if it is content.
    pub(super) async fn must_be_well(
        &self,
        path: &str,
        answer: Response<Incoming>,
    ) -> anyhow::Result<String> {
        let status = answer.status();
        let said = Limited::new(answer.into_body(), TOLD).collect().await;
        let said = said.map(Collected::to_bytes).unwrap_or_default();
        let said = String::from_utf8_lossy(&said).into_owned();
        // What is put together may turn out to be wrong after the head was sent.
        if status.is_success() && !said.contains("<Error>") {
            return Ok(said);
        }
        let said: String = said.chars().take(300).collect();
        let said = crate::display::printable(&said);
        anyhow::bail!("{}: {path} was refused with {status}: {said}", self.name)
    }
}

fn variable(name: &str) -> Option<String> {
    let value = environment(name)?.into_string().ok()?;
    Some(value).filter(|value| !value.is_empty())
}

fn required(name: &str) -> Result<String, BadInput> {
    variable(name).ok_or_else(|| {
        BadInput(format!(
            "--output s3://…: set {name} in the environment (and AWS_ENDPOINT_URL for a store of \
             your own)"
        ))
    })
}

fn part_size() -> Result<u64, BadInput> {
    let Some(text) = variable("TRAWL_S3_PART_SIZE") else {
        return Ok(PART);
    };
    let wrong = || BadInput("TRAWL_S3_PART_SIZE: a number of bytes from 1 to 5 GiB".into());
    let bytes: u64 = text.parse().map_err(|_| wrong())?;
    if (1..=5 << 30).contains(&bytes) {
        Ok(bytes)
    } else {
        Err(wrong())
    }
}

/// A part of a file in pieces, so that memory does not grow with it.
pub(super) fn body_of(path: &Path, from: u64, bytes: u64) -> io::Result<Body> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let pieces = stream::unfold(Some(file.take(bytes)), |file| async move {
        let mut file = file?;
        let mut piece = vec![0; CHUNK];
        match file.read(&mut piece) {
            Ok(0) => None,
            Ok(read) => {
                piece.truncate(read);
                Some((Ok(Frame::data(Bytes::from(piece))), Some(file)))
            }
            Err(error) => Some((Err(error), None)),
        }
    });
    Ok(BoxBody::new(StreamBody::new(pieces)))
}
