"""Trawl's own model code against engines that could be used instead, in one run and one table.

Speed: tokens per CPU-second on one thread, the same texts, weights and batches, the median of
three rounds. Cost: what building each takes beyond what all share. All are compared with what onnxruntime
in Python makes of the same texts.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys

import numpy
import onnxruntime

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))

import embedding  # noqa: E402
from plain import plain_graph  # noqa: E402

ROUNDS = 3
ENGINES = ("own", "ort", "rten", "candle", "tract")
ONE_THREAD = {"RAYON_NUM_THREADS": "1", "RTEN_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def build(package, target):
    """CPU-seconds of a build, and the program; or why there is none.

    Engines are built where what all share is built already, so that theirs is what they add.
    """
    folder, base = target / package, target / "base"
    shutil.rmtree(folder, ignore_errors=True)
    if package != "base":
        shutil.copytree(base, folder)
    command = ["cargo", "build", "--release", "--locked", "--package", f"engine-{package}",
               "--manifest-path", here / "Cargo.toml", "--target-dir", folder]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, folder / "release" / f"engine-{package}"


def crates(package):
    command = ["cargo", "tree", "--locked", "--package", f"engine-{package}", "--prefix", "none",
               "--edges", "normal,build", "--format", "{p}", "--manifest-path", here / "Cargo.toml"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return len({line.split(" (")[0] for line in listed.splitlines() if line.strip()}) - 1


def measured(program, model, graph, texts, output, library):
    environment = os.environ | ONE_THREAD | {"ORT_DYLIB_PATH": str(library)}
    rates = []
    for _ in range(ROUNDS):
        done = subprocess.run([program, model, graph, texts, output], env=environment,
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        tokens, seconds = map(float, done.stdout.split())
        rates.append(tokens / seconds)
    return statistics.median(rates), numpy.loadtxt(output, ndmin=2)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--model", type=pathlib.Path, required=True)
    arguments.add_argument("--texts", type=pathlib.Path, required=True,
                           help="docs.jsonl of a collection")
    arguments.add_argument("--target", type=pathlib.Path, required=True)
    arguments.add_argument("--count", type=int, default=200)
    arguments.add_argument("--only", nargs="*", choices=ENGINES, default=ENGINES)
    arguments.add_argument("--keep-base", action="store_true",
                           help="do not build again what all engines share")
    given = arguments.parse_args()
    work = given.target / "graphs"
    work.mkdir(parents=True, exist_ok=True)
    lines = [json.loads(line)["text"] for line in open(given.texts)]
    texts = [" ".join(line.split())[:1500] for line in lines[: given.count]]
    listed, fused, plain = work / "texts.txt", work / "fused.onnx", work / "plain.onnx"
    listed.write_text("\n".join(texts) + "\n")
    fused.write_bytes(embedding.graph(given.model).SerializeToString())
    plain.write_bytes(plain_graph(given.model).SerializeToString())
    capi = pathlib.Path(onnxruntime.__file__).parent / "capi"
    library = next(capi.glob("libonnxruntime.so*"))

    tokens, seconds, truth = embedding.peer(given.model, texts)
    known = given.target / "base" / "cost"
    if not (given.keep_base and known.exists()):
        known.write_text(str(build("base", given.target)[0]))
    base_seconds = float(known.read_text())
    base = given.target / "base" / "release" / "engine-base"
    base_crates, base_bytes = crates("base"), base.stat().st_size
    print(f"{len(texts)} texts, {tokens} tokens; what all share: {base_crates} crates, "
          f"{base_seconds:.0f} CPU-seconds to build, {base_bytes / 1e6:.1f} MB\n", flush=True)
    print("| | tokens per CPU-second | cosine to onnxruntime: mean, least | crates beyond what all "
          "share | CPU-seconds to build them | binary grows by |\n|---|---|---|---|---|---|")
    print(f"| onnxruntime {onnxruntime.__version__} in Python | {tokens / seconds:,.0f} | | | | |")
    for package, kinds in {
        "own": [("trawl, 32-bit floats", "float"), ("trawl, eight bits", "eight-bit")],
        "ort": [("ort, fused operators", fused)],
        "rten": [("rten, plain operators", plain)],
        "candle": [("candle", "-")],
        "tract": [("tract, plain operators", plain)],
    }.items():
        if package not in given.only:
            continue
        try:
            cost, program = build(package, given.target)
            grown = program.stat().st_size - base_bytes
            size = f"{grown / 1e6:.1f} MB"
            if package == "ort":
                size += f" and a library of {library.stat().st_size / 1e6:.1f} MB"
            cost = f"{crates(package) - base_crates} | {cost:.0f} | {size}"
            for name, graph in kinds:
                rate, found = measured(program, given.model, graph, listed, work / "vectors.txt",
                                       library)
                cosine = (truth * found).sum(1)
                print(f"| {name} | {rate:,.0f} | {cosine.mean():.4f}, {cosine.min():.4f} | {cost} |")
        except RuntimeError as why:
            print(f"| {kinds[0][0]} | failed | | | | |\n\n{why}\n", flush=True)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
