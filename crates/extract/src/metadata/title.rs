//! The page's own title, told apart from the site's name that stands beside it.

/// What may stand between the title of a page and the name of its site.
const SEPARATORS: [&str; 10] = [
    " | ", " - ", " – ", " — ", " · ", " :: ", " » ", " « ", " • ", " / ",
];

/// Titles from the most to the least trusted, each as written.
#[derive(Debug)]
pub(super) struct Titles<'a> {
    /// OpenGraph, schema.org and Twitter titles, in this order of trust.
    pub(super) declared: Vec<&'a str>,
    pub(super) tag: Option<&'a str>,
    pub(super) heading: Option<&'a str>,
}

/// The best title without the site's name.
pub(super) fn choose(titles: &Titles<'_>, site: Option<&str>) -> Option<String> {
    let all = || {
        titles
            .declared
            .iter()
            .copied()
            .chain(titles.tag)
            .chain(titles.heading)
    };
    let is_site = |title: &str| site.is_some_and(|site| same(title, site));
    // A title that only says the site's name is of use on the front page alone, where all do.
    let best = all()
        .find(|title| !is_site(title))
        .or_else(|| all().next())?;
    Some(
        site.map_or(best, |site| without_site(best, site))
            .to_owned(),
    )
}

/// The name of the site where nobody says it: what stands beside a title that is known from
/// elsewhere.
pub(super) fn site_beside(titles: &Titles<'_>) -> Option<String> {
    let tag = titles.tag?;
    let known = titles.declared.iter().copied().chain(titles.heading);
    for title in known.filter(|title| title.len() < tag.len()) {
        for separator in SEPARATORS {
            let beside = tag
                .strip_prefix(title)
                .and_then(|rest| rest.strip_prefix(separator))
                .or_else(|| tag.strip_suffix(title)?.strip_suffix(separator));
            if let Some(site) = beside.map(str::trim).filter(|site| is_one_part(site)) {
                return Some(site.to_owned());
            }
        }
    }
    None
}

fn is_one_part(text: &str) -> bool {
    !text.is_empty()
        && text.chars().count() <= 60
        && !SEPARATORS.iter().any(|separator| text.contains(separator))
}

fn without_site<'a>(title: &'a str, site: &str) -> &'a str {
    for separator in SEPARATORS {
        let parts = [
            title.rsplit_once(separator),
            title.split_once(separator).map(|(a, b)| (b, a)),
        ];
        for (rest, name) in parts.into_iter().flatten() {
            if same(name, site) && !rest.trim().is_empty() {
                return rest.trim();
            }
        }
    }
    title
}

fn same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(declared: &[&str], tag: &str, heading: &str, site: Option<&str>) -> String {
        let given = |text| Some(text).filter(|text: &&str| !text.is_empty());
        let (declared, tag, heading) = (declared.to_vec(), given(tag), given(heading));
        choose(
            &Titles {
                declared,
                tag,
                heading,
            },
            site,
        )
        .unwrap_or_default()
    }

    #[test]
    fn the_sites_name_is_left_out_where_it_is_known() {
        let site = Some("The Daily");
        assert_eq!(title(&[], "Rain | The Daily", "", site), "Rain");
        assert_eq!(title(&[], "the daily – Rain", "", site), "Rain");
        assert_eq!(
            title(&["Rain - More - The Daily"], "x", "", site),
            "Rain - More"
        );
        assert_eq!(
            title(&[], "Rain | The Weekly", "", site),
            "Rain | The Weekly"
        );
        assert_eq!(title(&[], "Rain | The Daily", "", None), "Rain | The Daily");
    }

    #[test]
    fn a_title_that_is_the_sites_name_gives_way() {
        let site = Some("The Daily");
        assert_eq!(title(&["The Daily"], "Rain | The Daily", "", site), "Rain");
        assert_eq!(title(&["The Daily"], "The Daily", "", site), "The Daily");
        assert_eq!(title(&[], "", "Heading", site), "Heading");
        assert_eq!(title(&[], "", "", site), "");
    }

    #[test]
    fn the_sites_name_is_what_stands_beside_a_known_title() {
        let beside = |tag, heading| {
            site_beside(&Titles {
                declared: vec![],
                tag: Some(tag),
                heading: Some(heading),
            })
        };
        assert_eq!(
            beside("Rain - The Daily", "Rain").as_deref(),
            Some("The Daily")
        );
        assert_eq!(
            beside("The Daily | Rain", "Rain").as_deref(),
            Some("The Daily")
        );
        assert_eq!(beside("Rain - News - The Daily", "Rain"), None);
        assert_eq!(beside("Rain", "Rain"), None);
        assert_eq!(beside("Rainbows", "Rain"), None);
    }
}
