//! Where a redirect may lead: to the same page at another address, to another page, or nowhere.
//! Pure; every hop passes normalisation, address rules and scope, and gets a lease of its own.

use trawl_store::contract::write::NewLink;
use trawl_types::{CrawlUrl, LinkKind, LinkRel, Outcome, OutcomeKind, Place};
use url::Url;

use crate::{
    plan::{CrawlPlan, new_link},
    task::PageTask,
};

#[derive(Debug)]
pub(crate) enum Target {
    /// `www.`, a slash, https: the same page elsewhere.
    SamePage(Box<CrawlUrl>),
    /// Another page, which enters the frontier (or is refused there with its reason).
    Other {
        outcome: Outcome,
        to: String,
        link: Option<Box<NewLink>>,
    },
}

pub(crate) fn follow(
    plan: &CrawlPlan,
    task: &PageTask,
    from: &Url,
    status: u16,
    location: Option<&str>,
) -> Target {
    let end = |kind, detail: String, to: &str| Target::Other {
        outcome: Outcome::new(kind, Some(status), detail),
        to: to.to_owned(),
        link: None,
    };
    let Some(location) = location.map(str::trim).filter(|text| !text.is_empty()) else {
        return end(OutcomeKind::BadRedirect, "no Location".into(), "");
    };
    let target = match plan.normaliser().join(from, location) {
        Ok(target) => target,
        Err(reason) => {
            let kind = match reason.code {
                trawl_types::ReasonCode::InvalidUrl => OutcomeKind::BadRedirect,
                _ => OutcomeKind::RedirectRefused,
            };
            return end(kind, reason.to_string(), location);
        }
    };
    let own = plan.normaliser().seed(&task.found_as).map(|url| url.key());
    let most = plan.spec.fetch.max_redirects as usize;
    let to = target.as_str().to_owned();
    let known = target.as_str() == from.as_str() || task.hops.contains(&to);
    if known || task.chain.contains(&plan.mark_of(&to)) {
        return end(
            OutcomeKind::RedirectLoop,
            "the chain comes back to itself".into(),
            &to,
        );
    }
    if task.hops.len() + task.chain.len() >= most {
        return end(
            OutcomeKind::TooManyRedirects,
            format!("more than {most}"),
            &to,
        );
    }
    if own == Ok(target.key()) {
        // The page was admitted before, perhaps as a start outside of what links may lead to.
        return match plan.judge_seed(&target) {
            Ok(()) => Target::SamePage(Box::new(target)),
            Err(reason) => end(OutcomeKind::RedirectRefused, reason.to_string(), &to),
        };
    }
    let verdict = plan.judge(&target, LinkRel::default());
    let outcome = match &verdict {
        Ok(()) => Outcome::new(OutcomeKind::Redirected, Some(status), ""),
        Err(reason) => Outcome::new(
            OutcomeKind::RedirectRefused,
            Some(status),
            reason.to_string(),
        ),
    };
    let verdict = verdict.map(|()| task.score);
    let mut link = new_link(
        &target,
        verdict,
        LinkKind::Redirect,
        LinkRel::default(),
        Place::Body,
        "",
    );
    link.chain.clone_from(&task.chain);
    let requested = task.hops.iter().map(String::as_str).chain([from.as_str()]);
    link.chain.extend(requested.map(|url| plan.mark_of(url)));
    Target::Other {
        outcome,
        to,
        link: Some(Box::new(link)),
    }
}
