//! Every format at every level holds the same graph, and nothing crawled breaks any of them.

use proptest::prelude::*;
use trawl_types::terrain::TerrainState;

use super::*;
use crate::{
    memory::MemorySource,
    testkit::{FIRST, MapBuilder, small_map},
};

const FORMATS: [Format; 5] = [
    Format::GraphMl,
    Format::Gexf,
    Format::CsvNodes,
    Format::CsvEdges,
    Format::Json,
];

fn export(source: &MemorySource, level: Level, format: Format, filter: &Filter) -> String {
    let mut out = Vec::new();
    write_graph(source, FIRST, level, format, filter, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Numbers of nodes and edges that a format shows, by its own marks.
fn counts(source: &MemorySource, level: Level, filter: &Filter) -> Vec<(usize, usize)> {
    let text = |format| export(source, level, format, filter);
    let [graphml, gexf] = [Format::GraphMl, Format::Gexf].map(text);
    let json: serde_json::Value = serde_json::from_str(&text(Format::Json)).unwrap();
    let rows = |format| {
        let text = text(format);
        ::csv::Reader::from_reader(text.as_bytes())
            .records()
            .count()
    };
    let length = |key: &str| json[key].as_array().unwrap().len();
    vec![
        (
            graphml.matches("<node ").count(),
            graphml.matches("<edge ").count(),
        ),
        (
            gexf.matches("<node ").count(),
            gexf.matches("<edge ").count(),
        ),
        (rows(Format::CsvNodes), rows(Format::CsvEdges)),
        (length("nodes"), length("edges")),
    ]
}

fn is_well_formed(text: &str) -> bool {
    let mut reader = quick_xml::Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(quick_xml::events::Event::Eof) => return true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

#[test]
fn all_formats_hold_the_same_graph_at_each_level() {
    let all = Filter::default();
    let source = small_map();
    assert_eq!(counts(&source, Level::Page, &all), vec![(13, 17); 4]);
    assert_eq!(counts(&source, Level::Host, &all), vec![(8, 11); 4]);
    assert_eq!(
        counts(&source, Level::Site, &all),
        vec![(7, 10); 4],
        "far.co.uk is one site"
    );
}

#[test]
fn links_between_hosts_are_summed_up_and_those_within_are_a_figure() {
    let text = export(&small_map(), Level::Host, Format::Json, &Filter::default());
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let nodes = json["nodes"].as_array().unwrap();
    let node = |label: &str| nodes.iter().find(|n| n["label"] == label).unwrap();
    assert_eq!(node("near.net")["links_inside"], 4);
    assert_eq!(node("near.net")["links_in"], 3);
    assert_eq!(node("a.org")["class"], "quality");
    let edges = json["edges"].as_array().unwrap();
    let a_to_near = edges
        .iter()
        .find(|e| e["source"] == node("a.org")["id"] && e["target"] == node("near.net")["id"]);
    assert_eq!(a_to_near.unwrap()["weight"], 2);
}

#[test]
fn filters_leave_out_nodes_with_their_edges_and_light_edges() {
    let source = small_map();
    let quality = Filter {
        classes: vec![DomainClass::Quality],
        ..Filter::default()
    };
    assert_eq!(counts(&source, Level::Page, &quality), vec![(3, 3); 4]);
    assert_eq!(counts(&source, Level::Host, &quality), vec![(2, 2); 4]);
    let near = Filter {
        max_depth: Some(0),
        ..Filter::default()
    };
    assert_eq!(counts(&source, Level::Host, &near), vec![(2, 2); 4]);
    let heavy = Filter {
        min_weight: 2,
        ..Filter::default()
    };
    assert_eq!(counts(&source, Level::Host, &heavy), vec![(8, 1); 4]);
}

#[test]
fn gexf_tells_when_nodes_and_edges_lived() {
    let text = export(&small_map(), Level::Host, Format::Gexf, &Filter::default());
    let node = "<node id=\"1\" label=\"a.org\" start=\"2025-01-15T10:30:00.000Z\" \
                end=\"2025-01-15T14:45:23.000Z\">";
    assert!(text.contains(node), "{text}");
    assert!(text.contains("weight=\"2\" start=\"2025-01-15T10:30:00.000Z\""));
}

#[test]
fn what_is_still_running_has_no_end() {
    let mut source = small_map();
    source.runs[0].run.finished_at = None;
    let text = export(&source, Level::Host, Format::Gexf, &Filter::default());
    assert!(text.contains(" start=") && !text.contains(" end="));
}

#[test]
fn an_empty_map_is_a_graph_too() {
    let source = MapBuilder::new(FIRST, &["a.org"]).source();
    for level in [Level::Page, Level::Host] {
        assert_eq!(counts(&source, level, &Filter::default()), vec![(0, 0); 4]);
    }
}

#[test]
fn a_spreadsheet_finds_no_formula_in_crawled_text() {
    let mut map = MapBuilder::new(FIRST, &["a.org"]);
    let a = map.page(
        "https://a.org/",
        DomainClass::Quality,
        TerrainState::Processed,
        0,
    );
    let b = map.page(
        "https://b.org/",
        DomainClass::Discovered,
        TerrainState::Processed,
        1,
    );
    map.link(a, b, "=HYPERLINK(\"http://evil\")");
    map.link(b, a, "\t+1");
    let text = export(
        &map.source(),
        Level::Page,
        Format::CsvEdges,
        &Filter::default(),
    );
    assert!(
        text.contains("\"'=HYPERLINK(\"\"http://evil\"\")\""),
        "{text}"
    );
    assert!(text.contains(",' +1,"), "{text}");
}

#[test]
fn a_writer_that_fails_ends_the_export() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for format in FORMATS {
        let all = Filter::default();
        let result = write_graph(&small_map(), FIRST, Level::Page, format, &all, &mut Full);
        assert!(matches!(result, Err(ViewError::Write(_))), "{format:?}");
    }
}

proptest! {
    #[test]
    fn hostile_titles_and_anchors_break_no_format(
        title in any::<String>(), anchor in any::<String>(), path in "\\PC{0,20}"
    ) {
        let mut map = MapBuilder::new(FIRST, &["a.org"]);
        let a = map.page("https://a.org/", DomainClass::Quality, TerrainState::Processed, 0);
        let url = format!("https://b.org/{path}");
        let b = map.page(&url, DomainClass::Discovered, TerrainState::Processed, 1);
        map.link(a, b, &anchor);
        let mut source = map.source();
        source.runs[0].pages[1].title = Some(title);
        let all = Filter::default();
        prop_assert_eq!(counts(&source, Level::Page, &all), vec![(2, 1); 4]);
        for format in [Format::GraphMl, Format::Gexf] {
            let text = export(&source, Level::Page, format, &all);
            let illegal = |c: char| c.is_control() && c != '\n' || matches!(c, '\x7f' | '\u{ffff}');
            prop_assert!(!text.contains(illegal));
            prop_assert!(is_well_formed(&text));
        }
    }
}
