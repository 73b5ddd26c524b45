"""Makes the page set: manuals from Debian packages, and the pages of our own tests.

The ground truth of a manual is the element its generator writes the text into, without the
navigation the generator adds; that of our own pages is written down in truth/.
"""

import pathlib
import re
import subprocess
import sys

from lxml import html as parser

# Package, the element that holds the text, what in it is not text. `*` stands for a version.
MANUALS = [
    ("git-doc", "//body", ["//*[@id='footer']"]),
    ("debian-policy", "//div[@role='main']", ["//a[@class='headerlink']"]),
    ("developers-reference", "//div[@role='main']", ["//a[@class='headerlink']"]),
    ("debian-reference-en", "//body", ["//*[@class='navheader']", "//*[@class='navfooter']"]),
    ("postgresql-doc", "//body", ["//*[@class='navheader']", "//*[@class='navfooter']"]),
    ("python3-doc", "//div[@role='main']", ["//a[@class='headerlink']"]),
]
PAGES_PER_MANUAL = 40
BLOCKS = set(
    "p div li tr td th h1 h2 h3 h4 h5 h6 br pre blockquote section article main ul ol table "
    "figure figcaption dl dt dd hr header footer nav body".split()
)


def text_of(element):
    """The text of an element with a line break at each block."""
    parts = []

    def walk(node):
        if not isinstance(node.tag, str) or node.tag in ("script", "style"):
            return
        edge = "\n" if node.tag in BLOCKS else ""
        parts.append(edge + (node.text or ""))
        for child in node:
            walk(child)
            parts.append(child.tail or "")
        parts.append(edge)

    walk(element)
    return "".join(parts)


def installed_name(package):
    """python3-doc is python3.11-doc on one release and another on the next."""
    if package not in ("python3-doc", "postgresql-doc"):
        return package
    listed = subprocess.run(["apt-cache", "depends", package], capture_output=True, text=True)
    found = re.search(r"Depends: (\S+-doc\S*)", listed.stdout)
    return found.group(1) if found else package


def unpack(package, folder):
    """Downloads and unpacks a package once; nothing is installed."""
    target = folder / package
    if not target.exists():
        name = installed_name(package)
        (folder / "download").mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", "-q", name], cwd=folder / "download", check=True)
        archive = next((folder / "download").glob(name + "_*.deb"))
        subprocess.run(["dpkg-deb", "-x", archive, target], check=True)
    return target


def manual_pages(folder):
    for package, container, drop in MANUALS:
        files = sorted(path for path in unpack(package, folder).rglob("*.html") if path.is_file())
        step = max(1, len(files) // PAGES_PER_MANUAL)
        for number, path in enumerate(files[::step][:PAGES_PER_MANUAL]):
            source = path.read_bytes()
            try:
                page = parser.fromstring(source)
            except Exception:  # not a page: an index of frames, an empty file
                continue
            for expression in drop:
                for element in page.xpath(expression):
                    element.drop_tree()
            found = page.xpath(container)
            truth = text_of(found[0]) if found else ""
            if len(truth.split()) >= 30:
                yield f"{package}-{number:02}", source, truth


def own_pages(root, here):
    for path in sorted((root / "crates/extract/tests/content/pages").glob("*.html")):
        truth = here / "truth" / (path.stem + ".txt")
        yield "own-" + path.stem, path.read_bytes(), truth.read_text()


def main():
    here = pathlib.Path(__file__).resolve().parent
    out = pathlib.Path(sys.argv[1])
    pages = out / "pages"
    pages.mkdir(parents=True, exist_ok=True)
    count = 0
    for source in (own_pages(here.parent.parent, here), manual_pages(out / "packages")):
        for name, html, truth in source:
            (pages / (name + ".html")).write_bytes(html)
            (pages / (name + ".txt")).write_text(truth)
            count += 1
    print(f"{count} pages", file=sys.stderr)


if __name__ == "__main__":
    main()
