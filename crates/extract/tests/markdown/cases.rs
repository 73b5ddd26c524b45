//! The cases in `cases/*.txt`: a sentence, the HTML, the Markdown and the text.

use crate::rendered;

const FILES: [&str; 9] = [
    include_str!("cases/headings_and_paragraphs.txt"),
    include_str!("cases/inline.txt"),
    include_str!("cases/links.txt"),
    include_str!("cases/lists.txt"),
    include_str!("cases/tables.txt"),
    include_str!("cases/code.txt"),
    include_str!("cases/notes_and_math.txt"),
    include_str!("cases/characters.txt"),
    include_str!("cases/malformed.txt"),
];

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) html: &'static str,
    markdown: &'static str,
    text: &'static str,
}

pub(crate) fn all() -> Vec<Case> {
    let sections = FILES.iter().flat_map(|file| {
        let file = file
            .strip_prefix("=== ")
            .expect("a file begins with a case");
        file.split("\n=== ")
    });
    sections.map(parse).collect()
}

fn parse(section: &'static str) -> Case {
    let (name, rest) = section.split_once('\n').expect("a name");
    let (html, rest) = rest.split_once("\n--- markdown\n").expect("Markdown");
    let (markdown, text) = rest.split_once("\n--- text\n").expect("text");
    Case {
        name,
        html,
        markdown,
        text: text.strip_suffix('\n').unwrap_or(text),
    }
}

#[test]
fn every_case_gives_its_markdown_and_its_text() {
    let mut failures = Vec::new();
    for case in all() {
        let rendered = rendered(case.html);
        for (what, found, expected) in [
            ("markdown", &rendered.markdown, case.markdown),
            ("text", &rendered.text, case.text),
        ] {
            if found != expected {
                let name = case.name;
                failures.push(format!(
                    "{name}: {what}\n--- expected\n{expected}\n--- found\n{found}\n"
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn there_are_cases_enough() {
    assert!(all().len() >= 60);
}
