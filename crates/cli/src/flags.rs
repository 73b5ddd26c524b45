//! Which flag sets which field of a spec: who typed a flag looks for a flag.

use trawl_types::spec::SpecError;

use crate::exit::BadInput;

/// Fields by how they begin, since some go on with a name or a number.
const FLAGS: &[(&str, &str)] = &[
    ("scope.max_pages_per_host", "--max-pages-per-host"),
    ("scope.max_pages", "--max-pages"),
    ("scope.max_depth", "--max-depth"),
    ("scope.hosts", "--host"),
    ("scope.include", "--include"),
    ("scope.exclude", "--exclude"),
    ("politeness.delay_ms", "--delay"),
    ("politeness.per_host", "--per-host"),
    ("politeness.concurrency", "--concurrency"),
    ("politeness.retry.attempts", "--attempts"),
    ("politeness.retry.base_ms", "--retry-delay"),
    ("content.near_distance", "--near-distance"),
    (
        "content.stop_at_near_duplicates",
        "--stop-at-near-duplicates",
    ),
    ("content.max_content_bytes", "--max-content"),
    ("content.sitemaps", "--sitemaps"),
    ("fetch.user_agent.name", "--user-agent"),
    // It is made of all three.
    (
        "fetch.user_agent",
        "--user-agent, --contact-url or --contact-email",
    ),
    ("fetch.headers.", "--header"),
    ("fetch.proxy", "--proxy"),
    ("fetch.connect_timeout_ms", "--timeout"),
    ("fetch.headers_timeout_ms", "--timeout"),
    ("fetch.idle_timeout_ms", "--timeout"),
    ("fetch.total_timeout_ms", "--timeout"),
    ("fetch.max_body_bytes", "--max-body"),
    ("fetch.extra_roots", "--ca-cert"),
    ("fetch.allow_networks", "--allow-network"),
    ("fetch.resolve", "--resolve"),
];

/// What is wrong with a spec, by the flag that says so. The field stays: its name has the unit.
pub(crate) fn by_flag(error: SpecError) -> BadInput {
    let SpecError { field, problem } = error;
    let flag = FLAGS.iter().find(|(begins, _)| field.starts_with(begins));
    BadInput(match flag {
        Some((_, flag)) => format!("{flag}: {problem} ({field})"),
        None => format!("{field}: {problem}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_named_by_its_flag() {
        for (field, says) in [
            ("politeness.delay_ms", "--delay: no (politeness.delay_ms)"),
            (
                "scope.max_pages_per_host",
                "--max-pages-per-host: no (scope.max_pages_per_host)",
            ),
            ("scope.max_pages", "--max-pages: no (scope.max_pages)"),
            ("fetch.headers.X-A", "--header: no (fetch.headers.X-A)"),
            (
                "fetch.extra_roots[1]",
                "--ca-cert: no (fetch.extra_roots[1])",
            ),
            ("seeds", "seeds: no"),
        ] {
            assert_eq!(by_flag(SpecError::new(field, "no")).to_string(), says);
        }
    }
}
