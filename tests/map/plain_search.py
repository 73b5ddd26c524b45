"""A slow, plain crawl of a few sites: what a map of them must say (003 §3 to §6).

One page after the other, with Python's own HTTP client and lxml. Fit for `max-depth = 0` alone, so
that quality domains are visited and nothing else is.
"""

import http.client
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from lxml import html

from address import domain, identity, resolve

REDIRECTS = (301, 302, 303, 307, 308)


@dataclass
class Lists:
    """The configuration: domains by class, `*.` for a domain and all below it."""

    quality: dict[str, list[str]]  # domain to seeds
    blacklist: list[str]
    stub: list[str]
    disallowed: tuple[str, ...] = ()  # beginnings of addresses that robots.txt forbids

    def class_of(self, address: str) -> str:
        name = domain(address)
        for title, patterns in (("Blacklisted", self.blacklist), ("Stubbed", self.stub), ("Quality", self.quality)):
            if any(matches(pattern, name) for pattern in patterns):
                return title
        return "Discovered"


def matches(pattern: str, name: str) -> bool:
    base = pattern.removeprefix("*.")
    return name == base or (pattern != base and name.endswith(f".{base}"))


@dataclass
class Truth:
    states: dict[str, str] = field(default_factory=dict)
    edges: set[tuple[str, str]] = field(default_factory=set)
    titles: dict[str, str] = field(default_factory=dict)
    anchors: dict[tuple[str, str], str] = field(default_factory=dict)  # text of the first link

    def depths(self, lists: Lists) -> dict[tuple[str, str], int]:
        """Pages of a quality domain are at 0 from it; a link adds one; the least counts."""
        links: dict[str, list[str]] = {}
        for a, b in self.edges:
            links.setdefault(a, []).append(b)
        found = {}
        for origin in lists.quality:
            level = {page for page in self.states if matches(origin, domain(page))}
            depth, seen = 0, set()
            while level:
                found |= {(page, origin): depth for page in level}
                seen |= level
                level = {b for a in level for b in links.get(a, ())} - seen
                depth += 1
        return found

    def references(self, state: str) -> dict[str, int]:
        """How many pages refer to each page of a state."""
        counts = {page: 0 for page, is_in in self.states.items() if is_in == state}
        for _, to in self.edges:
            if to in counts:
                counts[to] += 1
        return counts


def search(lists: Lists, port: int) -> Truth:
    truth = Truth()
    waiting = [seed for seeds in lists.quality.values() for seed in seeds]
    while waiting:
        address = waiting.pop(0)
        page = identity(address)
        if page in truth.states:
            continue
        truth.states[page] = state(lists, address)
        if truth.states[page] != "Queued":
            continue
        truth.states[page], title, links = visit(address, port)
        if title:
            truth.titles[page] = title
        for to, text in links:
            edge = (page, identity(to))
            truth.edges.add(edge)
            truth.anchors.setdefault(edge, text)
            waiting.append(to)
    return truth


def state(lists: Lists, address: str) -> str:
    """What becomes of an address before it is asked for."""
    title = lists.class_of(address)
    if title in ("Blacklisted", "Stubbed"):
        return title
    if title == "Discovered":
        return "DepthExceeded"
    return "Failed" if address.startswith(lists.disallowed) else "Queued"


def visit(address: str, port: int) -> tuple[str, str | None, list[tuple[str, str]]]:
    """State, title and links of a page, each with its text."""
    status, headers, body = ask(address, port)
    if status in REDIRECTS:
        to = resolve(address, headers["Location"])
        if identity(to) == identity(address):
            return visit(to, port)
        return "Processed", None, [(to, "")]
    if status == 404:
        return "DeadLink", None, []
    if status != 200:
        return "Failed", None, []
    if headers.get_content_type() not in ("text/html", "application/xhtml+xml"):
        return "ContentMismatch", None, []
    tree = html.document_fromstring(body)
    title = " ".join((tree.findtext(".//title") or "").split())
    return "Processed", title, links_of(tree, address)


def ask(address: str, port: int):
    parts = urlsplit(address)
    connection = http.client.HTTPConnection("127.0.0.1", port)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    connection.request("GET", path, headers={"Host": parts.netloc})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.msg, body


def links_of(tree, address: str) -> list[tuple[str, str]]:
    """The links of a page by 003 §6.3, in the order of the page."""
    base = tree.xpath("string((//base[@href])[1]/@href)")
    base = resolve(address, base) if base else None
    links = []
    for element in tree.iter("a", "area", "link"):
        href = element.get("href")
        if href is None or "download" in element.attrib:
            continue
        if element.tag == "link" and "canonical" not in element.get("rel", "").lower().split():
            continue
        if href.strip()[:1] in ("", "#") and not base:
            continue  # another part of the same page
        to = resolve(base or address, href)
        if to:
            links.append((to, text_of(element)))
    return links


def text_of(element) -> str:
    """What a reader sees of a link, or else is told of its pictures, or else of itself. Without
    spaces: where words end depends on what the markup looks like."""
    pictures = "".join(image.get("alt", "") for image in element.iter("img"))
    text = "".join(element.itertext()).strip() or pictures or element.get("title", "")
    return "".join(text.split())
