//! Which fields of a page are wanted (000, field selection). Fields are hidden, never renamed.

use crate::error::ApiError;

/// Fields of every page: they cannot be left out.
const CORE: [&str; 3] = ["url", "depth", "status_code"];

/// Fields that a page can have, in the order in which they are sent.
pub(crate) const FIELDS: [&str; 34] = [
    "url",
    "final_url",
    "canonical_url",
    "redirect_to",
    "parent",
    "depth",
    "status_code",
    "outcome",
    "title",
    "description",
    "language",
    "content",
    "markdown",
    "text",
    "metadata",
    "links",
    "links_total",
    "mime",
    "charset",
    "content_length",
    "content_hash",
    "etag",
    "last_modified",
    "robots",
    "robots_obeyed",
    "disallowed",
    "duplicate_of",
    "near_duplicate_of",
    "attempts",
    "fetch_time_ms",
    "fetch_error",
    "parse_error",
    "truncated",
    "crawled_at",
];

/// Left out unless asked for.
const HEAVY: [&str; 4] = ["content", "markdown", "text", "metadata"];

/// What of a page is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fields(Vec<&'static str>);

impl Fields {
    /// From `include` and `exclude`, of which `include` wins; `heavy` is what holds without both.
    pub(crate) fn parse(
        include: Option<&str>,
        exclude: Option<&str>,
        heavy: bool,
    ) -> Result<Self, ApiError> {
        let chosen: Vec<&str> = match (include, exclude) {
            (Some(include), _) => names("include", include)?,
            (None, Some(exclude)) => {
                let left_out = names("exclude", exclude)?;
                let keep =
                    |field: &&str| !left_out.contains(field) && (heavy || !HEAVY.contains(field));
                FIELDS.into_iter().filter(keep).collect()
            }
            (None, None) => FIELDS
                .into_iter()
                .filter(|field| heavy || !HEAVY.contains(field))
                .collect(),
        };
        let wanted = |field: &&str| CORE.contains(field) || chosen.contains(field);
        Ok(Self(FIELDS.into_iter().filter(wanted).collect()))
    }

    pub(crate) fn has(&self, field: &str) -> bool {
        self.0.contains(&field)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().copied()
    }
}

fn names(parameter: &str, list: &str) -> Result<Vec<&'static str>, ApiError> {
    let parts = list
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let find = |part: &str| {
        let part = part.to_lowercase();
        let found = FIELDS.into_iter().find(|field| *field == part);
        found.ok_or_else(|| unknown(parameter, &part))
    };
    parts.map(find).collect()
}

fn unknown(parameter: &str, name: &str) -> ApiError {
    let name: String = name.chars().take(60).collect();
    ApiError::field(
        parameter,
        format!(
            "Invalid field name: {name}; valid are {}",
            FIELDS.join(", ")
        ),
    )
    .with_details(serde_json::json!({
        "field": parameter, "invalid": name, "valid_fields": FIELDS.as_slice()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(include: Option<&str>, exclude: Option<&str>, heavy: bool) -> Vec<&'static str> {
        Fields::parse(include, exclude, heavy).unwrap().0
    }

    #[test]
    fn core_fields_are_always_there() {
        assert_eq!(
            fields(Some("title"), None, false),
            ["url", "depth", "status_code", "title"]
        );
        assert!(fields(None, Some("url,depth,status_code"), false).starts_with(&["url"]));
    }

    #[test]
    fn heavy_fields_come_only_when_asked_for_or_streamed() {
        assert!(!fields(None, None, false).contains(&"markdown"));
        assert!(fields(None, None, true).contains(&"markdown"));
        assert!(fields(Some(" Markdown , links"), None, false).contains(&"markdown"));
        assert!(!fields(None, Some("content"), true).contains(&"content"));
    }

    #[test]
    fn include_wins_over_exclude() {
        let both = fields(Some("title,markdown"), Some("markdown"), false);
        assert!(both.contains(&"markdown"));
    }

    #[test]
    fn an_unknown_field_is_named_with_the_valid_ones() {
        assert!(Fields::parse(Some("titel"), None, false).is_err());
        assert!(Fields::parse(None, Some("x"), false).is_err());
    }
}
