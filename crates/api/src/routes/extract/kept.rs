//! Main content that was fetched a while ago. The same for everybody: pages are asked for without anybody's
//! cookies or keys. What is kept was written by strangers and is only ever given as it is.

use serde::{Deserialize, Serialize};
use trawl_quick::cache::Kind;
use trawl_rules::Normaliser;
use trawl_types::{HostKey, UnixMillis, spec::NormaliseSpec};

use super::{
    page::{ExtractedPage, Format, Status},
    read::identity_of,
};
use crate::{app::Shared, jobs::now};

/// What is kept of a page.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    fetched_at: i64,
    page: ExtractedPage,
}

/// Whose page it is, and which.
fn name_of(app: &Shared, url: &str, format: Format) -> Option<(String, String)> {
    let parsed = url::Url::parse(url.trim()).ok()?;
    let host = HostKey::of(&parsed)?.as_str().to_owned();
    let normaliser = Normaliser::new(&NormaliseSpec::default(), app.store.key_secret());
    let identity = identity_of(&normaliser, url);
    Some((host, format!("{format:?} {identity}")))
}

/// A page that was fetched at most so many seconds ago.
pub(super) async fn find(
    app: &Shared,
    url: &str,
    format: Format,
    max_age: u32,
) -> Option<ExtractedPage> {
    if max_age == 0 || app.settings.limits.page_cache.is_zero() {
        return None;
    }
    let (host, name) = name_of(app, url, format)?;
    let json = app.quick.cached(Kind::Page, &host, &name).await?;
    let kept: Kept = serde_json::from_slice(&json).ok()?;
    let age = now().0 - kept.fetched_at;
    (age <= i64::from(max_age) * 1000).then(|| ExtractedPage {
        url: url.to_owned(),
        cached_at: Some(UnixMillis(kept.fetched_at).iso()),
        ..kept.page
    })
}

/// Keeps a page for those who come later.
pub(super) async fn keep(app: &Shared, page: &ExtractedPage, format: Format) {
    let lasts = app.settings.limits.page_cache;
    if page.status != Status::Success || lasts.is_zero() {
        return;
    }
    let Some((host, name)) = name_of(app, &page.url, format) else {
        return;
    };
    let kept = Kept {
        fetched_at: now().0,
        page: page.clone(),
    };
    if let Ok(json) = serde_json::to_vec(&kept) {
        app.quick.keep(Kind::Page, &host, &name, &json, lasts).await;
    }
}
