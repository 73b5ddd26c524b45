"""Extracts pages with a Python library: one JSON line per page, CPU seconds at the end."""

import json
import sys
import time

from pages import text_of


def trafilatura(precision):
    from trafilatura import extract

    return lambda html: extract(html, include_comments=False, favor_precision=precision) or ""


def readability():
    from lxml import html as parser
    from readability import Document

    return lambda html: text_of(parser.fromstring(Document(html).summary()))


PEERS = {
    "trafilatura": lambda: trafilatura(False),
    "trafilatura-precision": lambda: trafilatura(True),
    "readability-lxml": readability,
}


def main():
    extract = PEERS[sys.argv[1]]()
    paths = [line.strip() for line in sys.stdin]
    started = time.process_time()
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as page:
            html = page.read()
        try:
            text = extract(html)
        except Exception:  # a library that fails on a page has found nothing
            text = ""
        print(json.dumps({"path": path, "text": text}))
    print(json.dumps({"cpu_seconds": time.process_time() - started}))


if __name__ == "__main__":
    main()
