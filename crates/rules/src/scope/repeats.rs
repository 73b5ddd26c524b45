//! Paths that repeat themselves: `/a/a/a/a`, `/x/y/x/y/x/y`. Relative links on a page that answers
//! under any path make such paths grow without end.

/// Only this many segments are compared, so that a long hostile path costs no more.
const COMPARED: usize = 64;

/// The segments of a path; a trailing slash does not begin another one.
pub(super) fn segments(path: &str) -> impl Iterator<Item = &str> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    path.split('/')
}

/// What repeats, if one segment occurs more than `limit` times or a run of two or more segments
/// is repeated `limit` times in a row.
pub(super) fn find(path: &str, limit: usize) -> Option<String> {
    let mut found = [""; COMPARED];
    let mut count = 0;
    for (place, segment) in found.iter_mut().zip(segments(path)) {
        *place = segment;
        count += 1;
    }
    let found = &found[..count];
    if count <= limit {
        return None;
    }
    frequent(found, limit).or_else(|| cycle(found, limit))
}

fn frequent(segments: &[&str], limit: usize) -> Option<String> {
    segments.iter().enumerate().find_map(|(at, segment)| {
        let times = segments[at..].iter().filter(|s| *s == segment).count();
        (times > limit).then(|| format!("{segment:?} {times} times"))
    })
}

fn cycle(segments: &[&str], limit: usize) -> Option<String> {
    if limit < 2 {
        return None;
    }
    (2..=segments.len() / limit).find_map(|period| {
        let needed = period * (limit - 1);
        let mut run = 0;
        for (at, (a, b)) in segments.iter().zip(&segments[period..]).enumerate() {
            run = if a == b { run + 1 } else { 0 };
            if run == needed {
                let start = at + 1 - needed;
                let unit = segments[start..start + period].join("/");
                return Some(format!("/{unit} {limit} times in a row"));
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_segments_and_cycles_are_found_and_ordinary_paths_are_not() {
        for (path, caught) in [
            ("/", false),
            ("/a", false),
            ("/a/b/c/d/e/f/g/h", false),
            ("/a/a/a", false),
            ("/a/a/a/a", true),
            ("/a/x/a/y/a/z", false),
            ("/a/x/a/y/a/z/a", true),
            ("/a/b/a/b", false),
            ("/a/b/a/b/a/b", true),
            ("/x/a/b/a/b/a/b/y", true),
            ("/a/b/a/b/c/a/b", false),
            ("/a/b/c/a/b/c/a/b/c", true),
            ("/a/b/c/a/b/c/a/b/d", false),
            ("/2020/01/02/title", false),
            ("/a////b", false),
            ("/a/////b", true),
            ("/A/a/A/a", false),
        ] {
            assert_eq!(find(path, 3).is_some(), caught, "{path}");
        }
    }

    #[test]
    fn the_reason_names_what_repeats() {
        assert_eq!(find("/x/y/x/y/x/y", 3).unwrap(), "/x/y 3 times in a row");
        assert_eq!(find("/x/x/x/x", 3).unwrap(), "\"x\" 4 times");
    }

    #[test]
    fn a_limit_of_one_forbids_any_repetition_and_long_paths_are_cut() {
        assert!(find("/a/b", 1).is_none());
        assert!(find("/a/b/a", 1).is_some());
        assert!(find(&"/a".repeat(30_000), 3).is_some());
        assert!(find(&"/".repeat(60_000), 3).is_some());
    }

    #[test]
    fn segments_do_not_count_the_root_slash_or_a_trailing_one() {
        assert_eq!(segments("/a/b/").count(), 2);
        assert_eq!(segments("/a/b").count(), 2);
        assert_eq!(segments("/").count(), 1);
    }
}
