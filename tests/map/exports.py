"""networkx reads every export, and finds in it what the views of the database say."""

import csv
import json
from pathlib import Path

import networkx

from program import Programs, expect_equal, rows, write_config

LEVELS = ("page", "host", "site")
# Two labels make a site, but not below these; the suffixes that the maps here meet.
PUBLIC_SUFFIXES = {"co.uk", "debian.net", "freedesktop.org", "github.io"}


def check_test_web(programs: Programs, folder: Path) -> None:
    folder.mkdir()
    with programs.test_web("--hosts", "8", "--pages", "200", "--cross-host-share", "0.3") as web:
        port = web["addr"].rsplit(":", 1)[1]
        lists = f"""
[[quality]]
domain = "site0.test"
seeds = ["http://site0.test:{port}/"]
[[quality]]
domain = "site1.test"
seeds = ["http://site1.test:{port}/"]
[[blacklist]]
domain = "site2.test"
[[stub]]
domain = "site3.test"
"""
        config = write_config(folder, port, lists, max_depth=1)
        programs.trawl_map(config, "-q")
        programs.trawl_map(config, "-q")
    check(programs, folder)


def check(programs: Programs, folder: Path) -> None:
    for level in LEVELS:
        names, edges, links = expected(folder, level)
        for form in ("graphml", "gexf", "json", "csv"):
            path = folder / f"{level}.{form}"
            flags = ["--export", form, "--level", level, "--output", str(path), "-q"]
            programs.trawl_map(folder / "map.toml", *flags)
            graph = READERS[form](path)
            title = f"{form} at {level} level"
            assert graph.is_directed(), title
            label = networkx.get_node_attributes(graph, "url" if level == "page" else "label")
            expect_equal(f"{title}: nodes", set(label.values()), names)
            expect_equal(f"{title}: number of nodes", graph.number_of_nodes(), len(names))
            found = {(label[a], label[b]) for a, b in graph.edges()}
            expect_equal(f"{title}: edges", found, edges)
            expect_equal(f"{title}: number of edges", graph.number_of_edges(), len(edges))
            if level != "page":
                weight = sum(int(float(one)) for _, _, one in graph.edges(data="weight"))
                expect_equal(f"{title}: links", weight, links)


def expected(folder: Path, level: str) -> tuple[set[str], set[tuple[str, str]], int]:
    """Names of nodes, edges between them, and how many links those stand for."""
    newest = "(SELECT max(id) FROM runs)"
    pages = {
        page: (url, domain)
        for page, url, domain in rows(folder, f"SELECT id, url, domain FROM pages WHERE last_run = {newest}")
    }
    links = rows(folder, f"SELECT from_page_id, to_page_id FROM links WHERE last_run = {newest}")
    if level == "page":
        return {url for url, _ in pages.values()}, {(pages[a][0], pages[b][0]) for a, b in links}, len(links)
    group = site if level == "site" else str
    pairs = [(group(pages[a][1]), group(pages[b][1])) for a, b in links]
    between = [pair for pair in pairs if pair[0] != pair[1]]
    return {group(domain) for _, domain in pages.values()}, set(between), len(between)


def site(domain: str) -> str:
    labels = domain.split(".")
    if domain.replace(".", "").isdigit():
        return domain
    return ".".join(labels[-3:] if ".".join(labels[-2:]) in PUBLIC_SUFFIXES else labels[-2:])


def read_json(path: Path):
    return networkx.node_link_graph(json.loads(path.read_text()), edges="edges")


def read_csv(path: Path):
    graph = networkx.DiGraph()
    with open(path / "nodes.csv", newline="") as file:
        graph.add_nodes_from((row["Id"], {"label": row["Label"], **row}) for row in csv.DictReader(file))
    with open(path / "edges.csv", newline="") as file:
        graph.add_edges_from((row["Source"], row["Target"], {"weight": row["Weight"]}) for row in csv.DictReader(file))
    return graph


READERS = {"graphml": networkx.read_graphml, "gexf": networkx.read_gexf, "json": read_json, "csv": read_csv}
