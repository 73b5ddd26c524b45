"""Two real sites from Debian's documentation packages: the map of them is that of a plain search."""

import json
import re
from collections import Counter
from pathlib import Path

from plain_search import Lists, search
from program import Programs, expect_equal, rows, write_config
from sites import Sites

GIT = "git.docs.test"
HANDBOOK = "handbook.docs.test"
# The front page, what it does not lead to, a folder without a front page, a file that is no page.
GIT_SEEDS = ["/git.html", "/user-manual.html", "/technical/api-index.html", "/technical", "/giteveryday.txt"]
BLACKLIST = ["*.debian-handbook.info", "faqs.org"]
STUB = ["*.debian.org", "*.wikipedia.org", "github.com"]


def check(programs: Programs, folder: Path) -> Path:
    """Gives the folder of the map, for others to look at."""
    folder.mkdir()
    folders = {
        GIT: programs.packages / "git-doc/usr/share/doc/git-doc",
        HANDBOOK: programs.packages / "debian-handbook/usr/share/doc/debian-handbook/html/en-US",
    }
    with Sites(folders, {GIT: "User-agent: *\nDisallow: /howto/\n"}) as sites:
        quality = {
            GIT: [sites.url(GIT, path) for path in GIT_SEEDS],
            HANDBOOK: [sites.url(HANDBOOK)],
        }
        lists = Lists(quality, BLACKLIST, STUB, (sites.url(GIT, "/howto/"),))
        config = write_config(folder, sites.port, as_toml(lists), max_depth=0)
        programs.trawl_map(config, "-q")
        truth = search(lists, sites.port)
    compare(folder, lists, truth)
    states = Counter(truth.states.values())
    assert states["Processed"] > 250, f"too little to compare: {states}"
    said = ", ".join(f"{count} {state}" for state, count in states.most_common())
    print(f"   {said}; {len(truth.edges)} links")
    return folder


def as_toml(lists: Lists) -> str:
    text = "".join(f'[[quality]]\ndomain = "{name}"\nseeds = {json.dumps(seeds)}\n' for name, seeds in lists.quality.items())
    text += "".join(f'[[blacklist]]\ndomain = "{name}"\n' for name in lists.blacklist)
    return text + "".join(f'[[stub]]\ndomain = "{name}"\n' for name in lists.stub)


def compare(folder: Path, lists: Lists, truth) -> None:
    def name(url: str) -> str:
        """Pages are named by the scheme they were found under; two schemes may name one page."""
        return re.sub("^http:", "https:", url)

    def told(sql: str) -> list[tuple]:
        return [tuple(name(value) if isinstance(value, str) else value for value in row) for row in rows(folder, sql)]

    expect_equal("states", dict(told("SELECT url, state FROM pages")), truth.states)
    links = """SELECT a.url, b.url FROM links l
               JOIN pages a ON a.id = l.from_page_id JOIN pages b ON b.id = l.to_page_id"""
    edges = told(links)
    expect_equal("links", set(edges), truth.edges)
    expect_equal("numbers of links", len(edges), len(truth.edges))
    anchors = rows(folder, links.replace("SELECT a.url, b.url", "SELECT a.url, b.url, l.anchor"))
    texts = {(name(a), name(b)): "".join(text.split()) for a, b, text in anchors}
    expect_equal("anchors", texts, truth.anchors)
    depths = "SELECT p.url, d.quality_origin, d.depth FROM page_depths d JOIN pages p ON p.id = d.page_id"
    expect_equal("depths", {(url, origin): depth for url, origin, depth in told(depths)}, truth.depths(lists))
    titles = "SELECT url, title FROM pages WHERE title IS NOT NULL"
    expect_equal("titles", dict(told(titles)), truth.titles)
    for view, state in (("blacklisted_urls", "Blacklisted"), ("stubbed_urls", "Stubbed")):
        counts = dict(told(f"SELECT url, reference_count FROM {view}"))
        expect_equal(view, counts, truth.references(state))
