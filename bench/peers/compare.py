"""Runs trawl, spider and Scrapy on the same test web in turn and prints ratios.

Every run is checked against the web's own log of requests: a crawler that did not visit every page
is an error, not a fast crawler. CPU seconds are those of the crawler's process. Peak memory is left to
`make bench`: a process started from here would count this interpreter's memory as its own.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

AT_ONCE = 32
PAGE_BYTES = 20_000
LINKS = 30
TARGETS = {"spider": 1.2, "scrapy": 15.0}


class Web:
    """The test web as a process of its own, with every link in its plain spelling: others do not
    know that a page with a tracking parameter is the same page."""

    def __init__(self, binary, pages):
        self.pages = pages
        flags = {"--pages": pages, "--page-bytes": PAGE_BYTES, "--links": LINKS}
        arguments = [str(part) for pair in flags.items() for part in pair]
        self.process = subprocess.Popen(
            [binary, *arguments, "--plain-links", "--log"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        ready = json.loads(self.process.stdout.readline())
        self.root, self.port = ready["root"], ready["addr"].rsplit(":", 1)[1]

    def ask(self, what):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/.testweb/{what}") as answer:
            return answer.read().decode()

    def visited(self):
        """Pages that were answered with 200, and requests in all."""
        entries = [json.loads(line) for line in self.ask("log").splitlines()]
        paths = [e["path_and_query"] for e in entries if e["status"] == 200]
        return len(set(paths) - {"/robots.txt"}), len(entries)

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def commands(arguments, web, folder):
    """The command line of each crawler."""
    trawl = [
        *[arguments.trawl, "crawl", web.root, "--quiet"],
        *["--database", os.path.join(folder, "crawl.db"), "--delay", "0s"],
        *["--concurrency", str(AT_ONCE), "--per-host", str(AT_ONCE)],
        *["--allow-network", "127.0.0.0/8", "--allow-port", web.port],
        *["--output", "none"],
    ]
    return {
        "trawl": trawl,
        "spider": [arguments.spider, web.root, str(AT_ONCE)],
        "scrapy": [arguments.python, arguments.scrapy, web.root, str(AT_ONCE)],
    }


def run(name, arguments, web):
    """One run: pages per second and CPU seconds for 1,000 pages."""
    web.ask("clear")
    folder = tempfile.mkdtemp(prefix="trawl-peers-")
    try:
        command = commands(arguments, web, folder)[name]
        started = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    visited, requests = web.visited()
    if process.returncode != 0 or visited < web.pages:
        sys.exit(f"{name} ended with {process.returncode} after {visited} pages of {web.pages}")
    rate = web.pages / seconds
    cpu = (used.ru_utime + used.ru_stime) * 1000 / web.pages
    print(f"  {name:<8} {rate:>8.0f} pages/s  {requests} requests", file=sys.stderr, flush=True)
    return {"rate": rate, "cpu": cpu, "requests": requests}


def compare(names, web, arguments):
    """All crawlers in turn; the order turns from round to round."""
    samples = {name: [] for name in names}
    for round_number in range(arguments.rounds):
        for turn in range(len(names)):
            name = names[(round_number + turn) % len(names)]
            samples[name].append(run(name, arguments, web))
    return samples


def show(peer, pages, samples):
    """Prints a table; says whether the target is met."""
    print(f"\ntrawl and {peer}, {pages:,} pages of {PAGE_BYTES // 1000} KB, {AT_ONCE} at once")
    print(f"  {'':<8} {'pages/s':>9} {'best':>9} {'CPU s/1000':>11}")
    for name, runs in samples.items():
        rate = statistics.median(r["rate"] for r in runs)
        best = max(r["rate"] for r in runs)
        cpu = statistics.median(r["cpu"] for r in runs)
        print(f"  {name:<8} {rate:>9.0f} {best:>9.0f} {cpu:>11.3f}")
    ratios = [t["rate"] / p["rate"] for t, p in zip(samples["trawl"], samples[peer])]
    ratio, wanted = statistics.median(ratios), TARGETS[peer]
    word = "met:   " if ratio >= wanted else "MISSED:"
    print(f"  {word} {ratio:.2f} times the pages/s of {peer}, at least {wanted:g} wanted")
    return ratio >= wanted


def main():
    parser = argparse.ArgumentParser()
    for name in ["trawl", "testweb", "spider", "python", "scrapy"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--scrapy-pages", type=int, default=1_000)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    report = {}
    for peer, pages in [("spider", arguments.pages), ("scrapy", arguments.scrapy_pages)]:
        web = Web(arguments.testweb, pages)
        try:
            samples = compare(["trawl", peer], web, arguments)
        finally:
            web.stop()
        report[peer] = {"met": show(peer, pages, samples), "samples": samples}
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=2)


main()
