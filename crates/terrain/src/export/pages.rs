//! The graph of pages: rows go from the source to the writer one by one.

use rustc_hash::FxHashSet;
use trawl_types::{
    CrawlId, PageId,
    terrain::{TerrainEdge, TerrainPage},
};

use super::{
    Filter,
    schema::{Edge, GraphWriter, Node, Schema, Value, text, whole},
};
use crate::{
    export::groups::about,
    runs::RunTimes,
    source::{TerrainSource, ViewError, run_of, write_each},
};

const SCHEMA: Schema = Schema {
    nodes: &[
        text("url"),
        text("domain"),
        text("class"),
        text("state"),
        whole("depth"),
        text("title"),
        whole("status_code"),
        text("content_type"),
        whole("first_run"),
        whole("last_run"),
    ],
    edges: &[
        text("kind"),
        text("rel"),
        text("place"),
        whole("position"),
        text("anchor"),
        whole("first_run"),
        whole("last_run"),
    ],
};

pub(super) fn write<S: TerrainSource>(
    source: &S,
    run: CrawlId,
    filter: &Filter,
    writer: &mut dyn GraphWriter,
) -> Result<(), ViewError<S::Error>> {
    let about = about(&run_of(source, run)?, "page");
    let times = RunTimes::new(source.runs().map_err(ViewError::Source)?);
    writer.begin(SCHEMA, &about).map_err(ViewError::Write)?;
    let mut kept: FxHashSet<PageId> = FxHashSet::default();
    write_each(
        |row| source.pages(run, row),
        |page| {
            if !filter.has_node(page.class, page.depth) {
                return Ok(());
            }
            kept.insert(page.id);
            write_page(&page, &times, writer)
        },
    )?;
    if writer.wants_edges() && filter.has_weight(1) {
        write_each(
            |row| source.edges(run, row),
            |edge| {
                if kept.contains(&edge.from) && kept.contains(&edge.to) {
                    write_edge(&edge, &times, writer)
                } else {
                    Ok(())
                }
            },
        )?;
    }
    writer.end().map_err(ViewError::Write)
}

fn write_page(
    page: &TerrainPage,
    times: &RunTimes,
    writer: &mut dyn GraphWriter,
) -> std::io::Result<()> {
    let values = [
        Value::Text(&page.url),
        Value::Text(&page.domain),
        Value::Text(page.class.as_str()),
        Value::Text(page.state.as_str()),
        Value::Whole(i64::from(page.depth)),
        page.title.as_deref().into(),
        page.status_code
            .map_or(Value::Nothing, |status| Value::Whole(i64::from(status))),
        page.content_type.as_deref().into(),
        Value::Whole(page.first_run.0),
        Value::Whole(page.last_run.0),
    ];
    writer.node(&Node {
        id: page.id.0,
        label: &page.url,
        life: times.life(times.seen(page.first_run, page.last_run)),
        values: &values,
    })
}

fn write_edge(
    edge: &TerrainEdge,
    times: &RunTimes,
    writer: &mut dyn GraphWriter,
) -> std::io::Result<()> {
    let rel = edge.rel.words().join(" ");
    let values = [
        Value::Text(edge.kind.as_str()),
        Value::Text(&rel),
        Value::Text(edge.place.as_str()),
        Value::Whole(i64::from(edge.position)),
        Value::Text(&edge.anchor),
        Value::Whole(edge.first_run.0),
        Value::Whole(edge.last_run.0),
    ];
    writer.edge(&Edge {
        from: edge.from.0,
        to: edge.to.0,
        weight: 1,
        life: times.life(times.seen(edge.first_run, edge.last_run)),
        values: &values,
    })
}
