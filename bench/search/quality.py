"""nDCG@10 and Recall@100 of trawl's searches and of bm25s on the same collections, in one run.

bm25s runs as its authors recommend: the Lucene variant, English stop words, Snowball stems.
"""

import argparse
import json
import math
import pathlib
import subprocess

import bm25s
import Stemmer


def read(path):
    return [json.loads(line) for line in open(path)]


def judgements(path):
    qrels = {}
    for line in open(path):
        query, document, *grade = line.split()
        qrels.setdefault(query, {})[document] = int(grade[0]) if grade else 1
    return qrels


def ndcg(ranked, relevant, depth=10):
    gain = sum(
        relevant.get(document, 0) / math.log2(place + 2)
        for place, document in enumerate(ranked[:depth])
    )
    best = sorted(relevant.values(), reverse=True)[:depth]
    ideal = sum(grade / math.log2(place + 2) for place, grade in enumerate(best))
    return gain / ideal if ideal else 0.0


def recall(ranked, relevant, depth=100):
    wanted = {document for document, grade in relevant.items() if grade > 0}
    return len(wanted & set(ranked[:depth])) / len(wanted) if wanted else 0.0


def score(run, qrels):
    queries = [query for query in qrels if any(grade > 0 for grade in qrels[query].values())]
    mean = lambda measure: sum(measure(run.get(q, []), qrels[q]) for q in queries) / len(queries)
    return mean(ndcg), mean(recall)


def peer(folder):
    documents, queries = read(folder / "docs.jsonl"), read(folder / "queries.jsonl")
    texts = [f"{d.get('title') or ''} {d['text']}" for d in documents]
    stemmer = Stemmer.Stemmer("english")
    tokens = lambda texts: bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)
    index = bm25s.BM25(method="lucene")
    index.index(tokens(texts), show_progress=False)
    found, _ = index.retrieve(
        tokens([q["text"] for q in queries]), k=min(100, len(documents)), show_progress=False
    )
    return {
        query["id"]: [documents[n]["id"] for n in row] for query, row in zip(queries, found)
    }


def runs(folder):
    for path in sorted(folder.glob("*.run")):
        run = {}
        for line in open(path):
            query, document, *_ = line.split()
            run.setdefault(query, []).append(document)
        yield path.stem, run


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--evaluate", required=True, help="the example `evaluate`, built")
    arguments.add_argument("--output", type=pathlib.Path, required=True)
    arguments.add_argument("--model", help="folder of a model")
    arguments.add_argument("collections", nargs="+", type=pathlib.Path)
    given = arguments.parse_args()
    table = {}
    for folder in given.collections:
        qrels = judgements(folder / "qrels")
        output = given.output / folder.name
        command = [given.evaluate, folder, output] + ([given.model] if given.model else [])
        subprocess.run(command, check=True)
        table[folder.name] = {"bm25s": score(peer(folder), qrels)}
        table[folder.name] |= {name: score(run, qrels) for name, run in runs(output)}
    names = ["bm25s", "keyword", "vector", "hybrid"]
    names = [name for name in names if all(name in row for row in table.values())]
    print("| collection | " + " | ".join(names) + " |")
    print("|---|" + "---|" * len(names))
    for collection, row in table.items():
        cells = [f"{row[name][0]:.3f} / {row[name][1]:.3f}" for name in names]
        print(f"| {collection} | " + " | ".join(cells) + " |")
    mean = lambda name, part: sum(row[name][part] for row in table.values()) / len(table)
    print("| mean | " + " | ".join(f"{mean(n, 0):.3f} / {mean(n, 1):.3f}" for n in names) + " |")


if __name__ == "__main__":
    main()
