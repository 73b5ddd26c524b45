"""Scores trawl and its peers on the page set: F1 of words in runs of four and of single words,
pages without a result, pages per CPU-second."""

import argparse
import collections
import json
import pathlib
import re
import resource
import subprocess
import sys

PYTHON_PEERS = ["trafilatura", "trafilatura-precision", "readability-lxml"]


def runs(text, length):
    words = re.findall(r"[^\W_]+", text.lower())
    length = min(length, max(1, len(words)))
    return collections.Counter(tuple(words[i : i + length]) for i in range(len(words) - length + 1))


def f1(found, truth):
    common = sum((found & truth).values())
    total = sum(found.values()) + sum(truth.values())
    return 2 * common / total if total else 1.0


def run(command, paths):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, input="\n".join(paths) + "\n", capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    reported = [line["cpu_seconds"] for line in lines if "cpu_seconds" in line]
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    texts = {line["path"]: line["text"] for line in lines if "path" in line}
    return texts, reported[0] if reported else spent


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--pages", type=pathlib.Path, required=True)
    options.add_argument("--trawl", required=True)
    options.add_argument("--python", required=True)
    options.add_argument("--worst", type=int, default=0, help="list so many of trawl's worst pages")
    chosen = options.parse_args()
    here = pathlib.Path(__file__).resolve().parent
    paths = sorted(str(path) for path in chosen.pages.glob("*.html"))
    truths = {path: pathlib.Path(path).with_suffix(".txt").read_text() for path in paths}
    contenders = {"trawl": [chosen.trawl]}
    for peer in PYTHON_PEERS:
        contenders[peer] = [chosen.python, str(here / "peer.py"), peer]

    print(f"{len(paths)} pages")
    print(f"{'':24}{'F1 runs of 4':>14}{'F1 words':>10}{'empty':>7}{'pages/CPU-s':>13}")
    for name, command in contenders.items():
        texts, seconds = run(command, paths)
        scores = {path: f1(runs(texts[path], 4), runs(truths[path], 4)) for path in paths}
        words = sum(f1(runs(texts[path], 1), runs(truths[path], 1)) for path in paths)
        empty = sum(1 for path in paths if not texts[path].strip())
        mean = sum(scores.values()) / len(paths)
        print(f"{name:24}{mean:>14.3f}{words / len(paths):>10.3f}{empty:>7}{len(paths) / seconds:>13.0f}")
        if name == "trawl":
            for path in sorted(scores, key=scores.get)[: chosen.worst]:
                print(f"  {scores[path]:.3f} {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
