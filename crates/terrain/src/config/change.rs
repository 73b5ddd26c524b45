//! What differs between the spec of a run and a new one, in sentences, by the names that the
//! configuration uses.

use trawl_types::spec::{CrawlSpec, HeadPolicy, RobotsPolicy, TerrainSpec};

/// A field by its name in the file, and how to find it in a spec.
type Field<T> = (&'static str, fn(&CrawlSpec) -> T);

/// One sentence for each difference; none where the two mean the same.
pub fn explain_change(old: &CrawlSpec, new: &CrawlSpec) -> Vec<String> {
    let mut said = numbers(old, new);
    said.extend(words(old, new));
    let none = TerrainSpec::default();
    let (was, is) = (
        old.terrain.as_ref().unwrap_or(&none),
        new.terrain.as_ref().unwrap_or(&none),
    );
    let lists = [
        ("quality", &was.quality, &is.quality),
        ("seeds", &old.seeds, &new.seeds),
        ("blacklist", &was.blacklist, &is.blacklist),
        ("stub", &was.stub, &is.stub),
        (
            "allow-networks",
            &old.fetch.allow_networks,
            &new.fetch.allow_networks,
        ),
        ("resolve", &old.fetch.resolve, &new.fetch.resolve),
    ];
    said.extend(
        lists
            .into_iter()
            .filter_map(|(name, a, b)| list(name, a, b)),
    );
    let ports = |spec: &CrawlSpec| -> Vec<String> {
        spec.fetch.allow_ports.iter().map(u16::to_string).collect()
    };
    said.extend(list("allow-ports", &ports(old), &ports(new)));
    said.extend(secrets(old, new));
    said
}

fn numbers(old: &CrawlSpec, new: &CrawlSpec) -> Vec<String> {
    let or_none = |limit: Option<u64>| limit.map_or("no limit".to_owned(), |n| n.to_string());
    let fields: [Field<Option<u64>>; 4] = [
        ("max-depth", |spec| spec.scope.max_depth.map(u64::from)),
        ("max-concurrent-pages-open", |spec| {
            Some(u64::from(spec.politeness.concurrency))
        }),
        ("minimum-time-on-page", |spec| {
            Some(spec.politeness.delay_ms)
        }),
        ("max-domain-requests", |spec| {
            spec.scope.max_requests_per_host
        }),
    ];
    fields
        .into_iter()
        .filter_map(|(name, of)| changed(name, &or_none(of(old)), &or_none(of(new))))
        .collect()
}

fn words(old: &CrawlSpec, new: &CrawlSpec) -> Vec<String> {
    let fields: [Field<String>; 4] = [
        ("robots-unreachable", |spec| {
            match spec.politeness.robots {
                RobotsPolicy::Strict => "disallow",
                RobotsPolicy::UnreachableAllows => "allow",
                RobotsPolicy::Ignore => "ignore",
            }
            .to_owned()
        }),
        ("head", |spec| {
            match spec.fetch.head {
                HeadPolicy::Auto => "auto",
                HeadPolicy::Always => "always",
                HeadPolicy::Never => "never",
            }
            .to_owned()
        }),
        ("upgrade-https", |spec| {
            spec.normalise.upgrade_https.to_string()
        }),
        ("user-agent", |spec| spec.fetch.user_agent.header()),
    ];
    fields
        .into_iter()
        .filter_map(|(name, of)| changed(name, &of(old), &of(new)))
        .collect()
}

/// Fields that are compared but not shown.
fn secrets(old: &CrawlSpec, new: &CrawlSpec) -> Vec<String> {
    let mut said = Vec::new();
    if old.fetch.proxy != new.fetch.proxy {
        said.push("proxy is another".to_owned());
    }
    if old.fetch.extra_roots != new.fetch.extra_roots {
        let (was, is) = (old.fetch.extra_roots.len(), new.fetch.extra_roots.len());
        said.push(format!(
            "extra-root-files: other certificates ({was} files, now {is})"
        ));
    }
    said
}

fn changed(name: &str, was: &str, is: &str) -> Option<String> {
    (was != is).then(|| format!("{name} was {was}, is now {is}"))
}

/// `quality: + a.org, - b.org`.
fn list(name: &str, was: &[String], is: &[String]) -> Option<String> {
    if was == is {
        return None;
    }
    let added = is.iter().filter(|item| !was.contains(item));
    let removed = was.iter().filter(|item| !is.contains(item));
    let parts: Vec<String> = added
        .map(|item| format!("+ {item}"))
        .chain(removed.map(|item| format!("- {item}")))
        .collect();
    if parts.is_empty() {
        return Some(format!("{name}: the same in another order"));
    }
    Some(format!("{name}: {}", parts.join(", ")))
}
