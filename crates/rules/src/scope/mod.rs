//! Does a URL belong to the crawl? Everything that can be said from the URL alone: length, host,
//! patterns, shape of the path. Depth and budgets are the frontier's, counts are [`crate::traps`].

mod calendar;
mod hosts;
mod repeats;

use trawl_types::{
    CrawlSpec, CrawlUrl, LinkRel, Reason, ReasonCode,
    spec::{SpecError, TrapSpec},
};

use crate::{
    classify::DomainLists,
    pattern::{PatternError, UrlPattern},
};
use calendar::Calendar;
use hosts::HostRule;

/// The compiled limits of a crawl.
#[derive(Debug, Clone)]
pub struct Scope {
    hosts: HostRule,
    /// Of a terrain map.
    lists: Option<DomainLists>,
    include: Vec<UrlPattern>,
    exclude: Vec<UrlPattern>,
    max_url_length: usize,
    follow_nofollow: bool,
    max_segment_repeats: Option<usize>,
    max_path_segments: Option<usize>,
    calendar: Option<Calendar>,
}

impl Scope {
    /// Compiles hosts and patterns; the first one that cannot be used is the error.
    pub fn compile(
        spec: &CrawlSpec,
        seeds: &[CrawlUrl],
        this_year: i32,
    ) -> Result<Self, SpecError> {
        let scope = &spec.scope;
        let TrapSpec {
            max_segment_repeats,
            max_path_segments,
            max_years_from_now,
            ..
        } = scope.traps;
        Ok(Self {
            hosts: HostRule::compile(&scope.hosts, seeds)?,
            lists: spec
                .terrain
                .as_ref()
                .map(DomainLists::compile)
                .transpose()?,
            include: patterns("scope.include", &scope.include)?,
            exclude: patterns("scope.exclude", &scope.exclude)?,
            max_url_length: scope.max_url_length as usize,
            follow_nofollow: scope.follow_nofollow,
            max_segment_repeats: max_segment_repeats.map(|n| n as usize),
            max_path_segments: max_path_segments.map(|n| n as usize),
            calendar: max_years_from_now.map(|years| Calendar::new(this_year, years)),
        })
    }

    /// May a link with this `rel` be taken? The first rule that refuses gives the reason.
    pub fn check(&self, url: &CrawlUrl, rel: LinkRel) -> Result<(), Reason> {
        self.check_length(url)?;
        if rel.is_nofollow() && !self.follow_nofollow {
            return Err(ReasonCode::Nofollow.into());
        }
        if !self.hosts.allows(url.host()) {
            return Err(Reason::new(ReasonCode::OtherHost, url.host().as_str()));
        }
        self.check_lists(url)?;
        self.check_excluded(url)?;
        self.check_included(url)?;
        self.check_shape(url)
    }

    /// May a URL that a person gave as a start be taken? Hosts, includes and guards against
    /// endless spaces are about links: what was typed was meant. Excludes were typed as well.
    pub fn check_seed(&self, url: &CrawlUrl) -> Result<(), Reason> {
        self.check_length(url)?;
        self.check_lists(url)?;
        self.check_excluded(url)
    }

    fn check_lists(&self, url: &CrawlUrl) -> Result<(), Reason> {
        match &self.lists {
            Some(lists) => lists.check(url.host().name()),
            None => Ok(()),
        }
    }

    fn check_length(&self, url: &CrawlUrl) -> Result<(), Reason> {
        let length = url.as_str().len();
        if length > self.max_url_length {
            let detail = format!("{length} bytes, limit {}", self.max_url_length);
            return Err(Reason::new(ReasonCode::UrlTooLong, detail));
        }
        Ok(())
    }

    fn check_excluded(&self, url: &CrawlUrl) -> Result<(), Reason> {
        match first_match(&self.exclude, url) {
            Some(pattern) => Err(Reason::new(ReasonCode::Excluded, pattern.as_str())),
            None => Ok(()),
        }
    }

    fn check_included(&self, url: &CrawlUrl) -> Result<(), Reason> {
        if self.include.is_empty() || first_match(&self.include, url).is_some() {
            return Ok(());
        }
        let detail = match self.include.as_slice() {
            [only] => format!("the pattern is {only}"),
            many => format!("none of {} patterns", many.len()),
        };
        Err(Reason::new(ReasonCode::NotIncluded, detail))
    }

    fn check_shape(&self, url: &CrawlUrl) -> Result<(), Reason> {
        let path = url.address().path();
        // A path has at most as many segments as slashes, and counting those is quick.
        let slashes = memchr::memchr_iter(b'/', path.as_bytes()).count();
        if let Some(limit) = self.max_path_segments.filter(|limit| slashes > *limit) {
            let segments = repeats::segments(path).count();
            if segments > limit {
                let detail = format!("{segments} segments, limit {limit}");
                return Err(Reason::new(ReasonCode::PathTooDeep, detail));
            }
        }
        if let Some(limit) = self.max_segment_repeats.filter(|limit| slashes > *limit)
            && let Some(what) = repeats::find(path, limit)
        {
            return Err(Reason::new(ReasonCode::RepeatedSegments, what));
        }
        if let Some(calendar) = self.calendar
            && let Some(year) = calendar.far_year(path, url.address().query())
        {
            return Err(Reason::new(ReasonCode::Calendar, format!("year {year}")));
        }
        Ok(())
    }
}

fn first_match<'a>(patterns: &'a [UrlPattern], url: &CrawlUrl) -> Option<&'a UrlPattern> {
    patterns
        .iter()
        .find(|pattern| pattern.matches(url.address()))
}

fn patterns(field: &str, texts: &[String]) -> Result<Vec<UrlPattern>, SpecError> {
    texts
        .iter()
        .map(|text| UrlPattern::parse(text).map_err(|e| unusable(field, &e)))
        .collect()
}

fn unusable(field: &str, error: &PatternError) -> SpecError {
    SpecError::new(field, error.to_string())
}
