//! Where archives go that are not kept on this machine: an S3-compatible store. The endpoint and the keys
//! come from the environment, by the names that other programs know.

use std::{
    fs::File,
    io::{self, Read},
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
    signature::{Credentials, Unsigned, encoded, hex, sign},
};
use crate::{exit::BadInput, settings::environment};

/// What one request may bring, by the rules of S3.
const LARGEST: u64 = 5 << 30;
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
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Sends a file, and asks for it again: it must be there in full, with its checksum.
    pub(super) async fn put(&self, folder: &Path, place: &str, file: &Facts) -> anyhow::Result<()> {
        if file.bytes > LARGEST {
            anyhow::bail!(
                "{} has {} bytes, and one request takes 5 GiB at most: archive less at a time \
                 (--crawl, --before), or to a folder",
                file.name,
                file.bytes
            );
        }
        let path = format!(
            "{}{}",
            self.base,
            encoded(&format!("{place}/{}", file.name))
        );
        let body = body_of(&folder.join(&file.name))?;
        let sent = self.ask(Method::PUT, &path, Some((file, body))).await?;
        self.must_be_well(&path, sent).await?;
        let head = self.ask(Method::HEAD, &path, None).await?;
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

    async fn ask(
        &self,
        method: Method,
        path: &str,
        sent: Option<(&Facts, Body)>,
    ) -> anyhow::Result<Response<Incoming>> {
        let nothing = hex(&Sha256::digest(b""));
        let at = chrono::Utc::now().format("%Y%m%dT%H%M%SZ").to_string();
        let mut headers = Vec::new();
        if let Some((file, _)) = &sent {
            headers.push(("content-length", file.bytes.to_string()));
            headers.push(("x-amz-meta-sha256", file.sha256.clone()));
        }
        let unsigned = Unsigned {
            method: method.as_str(),
            host: &self.host,
            path,
            sha256: sent.as_ref().map_or(&nothing, |(file, _)| &file.sha256),
            at: &at,
            headers,
        };
        let uri = format!("{}://{}{path}", self.scheme, self.host);
        let mut request = Request::builder().method(method.clone()).uri(uri);
        for (name, value) in sign(unsigned, &self.who) {
            request = request.header(name, value);
        }
        let body = sent.map_or_else(no_body, |(_, body)| body);
        let answer = self.client.request(request.body(body)?);
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => anyhow::bail!("{}: {error}", self.name),
            Err(_) => anyhow::bail!("{}: no answer in time", self.name),
        }
    }

    async fn must_be_well(&self, path: &str, answer: Response<Incoming>) -> anyhow::Result<()> {
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let said = Limited::new(answer.into_body(), TOLD).collect().await;
        let said = said.map(Collected::to_bytes).unwrap_or_default();
        let said: String = String::from_utf8_lossy(&said).chars().take(300).collect();
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

fn no_body() -> Body {
    BoxBody::new(StreamBody::new(stream::empty()))
}

/// A file in pieces, so that memory does not grow with it.
fn body_of(path: &Path) -> io::Result<Body> {
    let file = File::open(path)?;
    let pieces = stream::unfold(Some(file), |file| async move {
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
