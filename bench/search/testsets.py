"""Makes three test collections from Debian packages. The judgements are written down by the
authors of the texts: a heading, a question or a summary names the text that belongs to it.

    faq     questions of perlfaq, the Python FAQ and the Debian FAQ; documents are the answers
    man     the summary of a manual page (`NAME`); documents are the pages without it
    manual  headings of sections of Debian's manuals; documents are the sections without them

Of each, `docs.jsonl` (id, title, text), `queries.jsonl` (id, text) and `qrels` (query, document)
are written. Titles are only given where they are not the query.
"""

import gzip
import json
import pathlib
import re
import subprocess
import sys

from lxml import html as parser

FAQ_HTML = ["debian-faq", "python3-doc"]
MANUALS = ["debian-policy", "developers-reference", "debian-reference-en", "maint-guide"]
MAN = ["manpages", "manpages-dev", "coreutils", "util-linux", "git-man", "procps", "iproute2"]
SPACE = re.compile(r"\s+")


def unpack(package, folder):
    """Downloads and unpacks a package once; nothing is installed."""
    if package == "python3-doc":
        listed = subprocess.run(["apt-cache", "depends", package], capture_output=True, text=True)
        package = re.search(r"Depends: (\S+-doc\S*)", listed.stdout).group(1)
    target = folder / package
    if not target.exists():
        subprocess.run(["apt-get", "download", "-q", package], cwd=folder, check=True)
        deb = next(folder.glob(f"{package}_*.deb"))
        subprocess.run(["dpkg", "-x", deb, target], check=True)
        deb.unlink()
    return target


def clean(text):
    return SPACE.sub(" ", text).strip()


def pages(folder):
    for path in sorted(p for p in folder.rglob("*.html*") if p.is_file()):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        try:
            yield path, parser.fromstring(data)
        except Exception:  # a frame or an empty file
            continue


def sections(folder, wanted=lambda path, heading: True):
    """Heading and own text of every section, without the sections inside of it."""
    for path, tree in pages(folder):
        for heading in tree.iter("h1", "h2", "h3", "h4"):
            name = clean(heading.text_content()).rstrip("¶")
            name = re.sub(r"^(Chapter )?[\dA-Z]*(\.\d+)*\.? ", "", name)
            parts, node = [], heading.getnext()
            if node is None and heading.getparent() is not None:
                # Docbook puts headings into boxes of their own.
                box = heading.getparent()
                while box.getparent() is not None and "titlepage" not in (box.get("class") or ""):
                    box = box.getparent()
                node = box.getnext()
            while node is not None and node.tag not in ("h1", "h2", "h3", "h4", "section", "dl_"):
                if not (node.tag == "div" and node.find(".//h2") is not None):
                    parts.append(node.text_content())
                node = node.getnext()
            text = clean(" ".join(parts))
            if len(text) > 150 and 2 <= len(name.split()) and wanted(path, name):
                yield name, text


def perl_faq(folder):
    for path in sorted(folder.rglob("perlfaq[0-9].*")):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for part in re.split(r"^=head2 ", data.decode("utf-8", "replace"), flags=re.M)[1:]:
            question, _, answer = part.partition("\n")
            answer = re.split(r"^=head1 ", answer, flags=re.M)[0]
            plain = lambda pod: clean(re.sub(r"[A-Z]<+\s?([^<>]*?)\s?>+", r"\1", re.sub(r"^=\w+.*$", "", pod, flags=re.M)))
            if len(plain(answer)) > 100:
                yield plain(question), plain(answer)


ROFF = re.compile(r"\\f[A-Z\[(][A-Z]*\]?|\\[&%|/,^]|\\s[+-]?\d|\\\((..)|\\\[[^]]*\]|\\-")


def man_pages(folder):
    for path in sorted((folder / "usr/share/man").glob("man[1-8]/*.gz")):
        source = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
        lines = []
        for line in source.replace("\\-", "-").splitlines():
            if line.startswith((".SH", ".SS")):
                lines.append("\n# " + line[3:].strip(' "'))
            elif line.startswith((".\\\"", "'\\\"", ".TH", ".so", ".de", ".if", ".ie", ".el", ".ds")):
                continue
            else:
                lines.append(re.sub(r"^\.[A-Za-z]+\s*", "", line))
        text = ROFF.sub(" ", "\n".join(lines)).replace('"', " ")
        parts = dict(
            (name.strip().upper(), clean(body))
            for name, _, body in (p.partition("\n") for p in text.split("\n# ")[1:])
        )
        name, found, summary = parts.pop("NAME", "").partition(" - ")
        for dull in ("SEE ALSO", "COLOPHON", "AUTHOR", "COPYRIGHT", "REPORTING BUGS", "GIT"):
            parts.pop(dull, None)
        body = "\n\n".join(f"# {name.title()}\n\n{body}" for name, body in parts.items() if body)
        if found and len(body) > 400 and len(summary.split()) > 2:
            yield clean(name), summary, body


def write(folder, entries):
    """Equal queries and equal documents are left out: they have no single answer."""
    folder.mkdir(parents=True, exist_ok=True)
    queries, documents = {}, {}
    for title, query, text in entries:
        queries.setdefault(query.lower(), []).append((title, query, text))
    for group in queries.values():
        if len(group) == 1:
            documents.setdefault(group[0][2], group[0])
    rows = sorted(documents.values(), key=lambda row: row[1])
    with (
        open(folder / "docs.jsonl", "w") as docs,
        open(folder / "queries.jsonl", "w") as asked,
        open(folder / "qrels", "w") as qrels,
    ):
        for number, (title, query, text) in enumerate(rows):
            docs.write(json.dumps({"id": f"d{number}", "title": title, "text": text}) + "\n")
            asked.write(json.dumps({"id": f"q{number}", "text": query}) + "\n")
            qrels.write(f"q{number} d{number} 1\n")
    print(f"{folder.name}: {len(rows)} documents and as many queries")


def main():
    target = pathlib.Path(sys.argv[1])
    packages = target / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    faq = [(None, q, a) for q, a in perl_faq(unpack("perl-doc", packages))]
    for package in FAQ_HTML:
        is_faq = lambda path, name: package == "debian-faq" or "/faq/" in str(path) and "?" in name
        faq += [(None, q, a) for q, a in sections(unpack(package, packages), is_faq)]
    write(target / "faq", faq)
    write(target / "man", [page for package in MAN for page in man_pages(unpack(package, packages))])
    manual = [s for package in MANUALS for s in sections(unpack(package, packages))]
    write(target / "manual", [(None, name, text) for name, text in manual])


if __name__ == "__main__":
    main()
