//! The text of a heading without its markup.

const MAX_TITLE_CHARS: usize = 200;

/// The words of a heading's Markdown.
pub(super) fn title(heading: &str) -> String {
    let line = heading.lines().next().unwrap_or_default().trim();
    let line = line.trim_start_matches('#').trim();
    let line = without_closing_marks(line);
    let mut title = String::new();
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek().is_some_and(char::is_ascii_punctuation) => {
                title.extend(characters.next());
            }
            '!' if characters.peek() == Some(&'[') => {}
            ']' if characters.peek() == Some(&'(') => skip_target(&mut characters),
            '*' | '`' | '[' | ']' => {}
            _ => title.push(character),
        }
    }
    title.trim().chars().take(MAX_TITLE_CHARS).collect()
}

/// Number signs at the end are decoration if a space stands before them.
fn without_closing_marks(line: &str) -> &str {
    let open = line.trim_end_matches('#');
    if open.is_empty() || open.ends_with([' ', '\t']) {
        open.trim_end()
    } else {
        line
    }
}

fn skip_target(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let mut depth = 0;
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                characters.next();
            }
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn titles_are_words_without_markup() {
        for (heading, words) in [
            ("## Use", "Use"),
            ("# [The *title*](https://example.org/a_(b))", "The title"),
            ("### `fn main()` and \\*more\\* #", "fn main() and *more*"),
            ("C#", "C#"),
            ("# C\\#", "C#"),
            ("#", ""),
            ("Title\n=====", "Title"),
            ("## ![Logo](https://example.org/i.png) Name", "Logo Name"),
        ] {
            assert_eq!(title(heading), words, "{heading}");
        }
    }
}
