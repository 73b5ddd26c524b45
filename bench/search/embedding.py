"""Tokens per CPU-second of trawl's own model code and of onnxruntime, same weights, one run.

The ONNX graph is made here from the same weights, of onnxruntime's fused operators for
transformers (the ones its optimizer would put in), in 32-bit floats. Texts are sorted by length
and embedded in batches of 32, as sentence-transformers does it, on one thread.
"""

import argparse
import json
import pathlib
import subprocess
import time

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

TYPES = {"F16": numpy.float16, "F32": numpy.float32}


def weights(folder):
    data = next(folder.glob("*.safetensors")).read_bytes()
    length = int.from_bytes(data[:8], "little")
    table = json.loads(data[8 : 8 + length])
    for name, entry in table.items():
        if name != "__metadata__" and entry["dtype"] in TYPES:
            start, end = (8 + length + offset for offset in entry["data_offsets"])
            array = numpy.frombuffer(data[start:end], TYPES[entry["dtype"]])
            yield name, array.reshape(entry["shape"]).astype(numpy.float32)


def graph(folder):
    config = json.loads((folder / "config.json").read_text())
    w = dict(weights(folder))
    nodes, constants = [], []
    epsilon, heads = config["layer_norm_eps"], config["num_attention_heads"]

    def constant(name, array):
        constants.append(numpy_helper.from_array(numpy.ascontiguousarray(array), name))
        return name

    def node(kind, inputs, output, domain="", **attributes):
        nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output

    def norm(name):
        return [constant(f"{name}.{p}", w[f"{name}.{p}"]) for p in ("weight", "bias")]

    fused = "com.microsoft"
    emb = "embeddings"
    words = node("Gather", [constant("words", w[f"{emb}.word_embeddings.weight"]), "ids"], "e0")
    places = node("Gather", [constant("places", w[f"{emb}.position_embeddings.weight"]), "at"], "e1")
    kind = constant("kind", w[f"{emb}.token_type_embeddings.weight"][0])
    x = node("Add", [node("Add", [words, places], "e2"), kind], "e3")
    x = node("LayerNormalization", [x, *norm(f"{emb}.LayerNorm")], "x0", epsilon=epsilon, axis=-1)
    for n in range(config["num_hidden_layers"]):
        p = f"encoder.layer.{n}"
        parts = [f"{p}.attention.self.{k}" for k in ("query", "key", "value")]
        qkv = constant(f"{n}.qkv", numpy.concatenate([w[f"{k}.weight"].T for k in parts], axis=1))
        bias = constant(f"{n}.qkvb", numpy.concatenate([w[f"{k}.bias"] for k in parts]))
        a = node("Attention", [x, qkv, bias, "mask"], f"{n}.a", fused, num_heads=heads)

        def linear(x, name, output):
            weight = constant(f"{name}.t", w[f"{name}.weight"].T)
            return node("MatMul", [x, weight], output), constant(f"{name}.b", w[f"{name}.bias"])

        a, bias = linear(a, f"{p}.attention.output.dense", f"{n}.o")
        x = node("SkipLayerNormalization", [a, x, *norm(f"{p}.attention.output.LayerNorm"), bias],
                 f"{n}.x1", fused, epsilon=epsilon)
        h, bias = linear(x, f"{p}.intermediate.dense", f"{n}.h")
        h = node("BiasGelu", [h, bias], f"{n}.g", fused)
        h, bias = linear(h, f"{p}.output.dense", f"{n}.d")
        x = node("SkipLayerNormalization", [h, x, *norm(f"{p}.output.LayerNorm"), bias],
                 f"{n}.x2", fused, epsilon=epsilon)
    whole = helper.make_graph(
        nodes, "bert",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["b", "s"]),
         helper.make_tensor_value_info("at", TensorProto.INT64, ["s"]),
         helper.make_tensor_value_info("mask", TensorProto.INT32, ["b", "s"])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["b", "s", config["hidden_size"]])],
        constants,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(fused, 1)]
    return helper.make_model(whole, opset_imports=opsets, ir_version=9)


def peer(folder, texts):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    model = graph(folder).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(512)
    started = time.process_time()
    encoded = [e.ids for e in tokenizer.encode_batch(texts)]
    order = sorted(range(len(texts)), key=lambda n: len(encoded[n]))
    vectors = [None] * len(texts)
    for first in range(0, len(order), 32):
        batch = order[first : first + 32]
        longest = max(len(encoded[n]) for n in batch)
        ids = numpy.zeros((len(batch), longest), numpy.int64)
        mask = numpy.zeros((len(batch), longest), numpy.int32)
        for row, n in enumerate(batch):
            ids[row, : len(encoded[n])] = encoded[n]
            mask[row, : len(encoded[n])] = 1
        (states,) = session.run(None, {"ids": ids, "at": numpy.arange(longest), "mask": mask})
        pooled = (states * mask[..., None]).sum(1)
        pooled /= numpy.linalg.norm(pooled, axis=1, keepdims=True)
        for row, n in enumerate(batch):
            vectors[n] = pooled[row]
    seconds = time.process_time() - started
    return sum(map(len, encoded)), seconds, numpy.array(vectors)


def ours(program, folder, texts, precision, output):
    listed = output / "texts.txt"
    listed.write_text("\n".join(texts) + "\n")
    vectors = output / f"{precision}.txt"
    done = subprocess.run([program, folder, listed, precision, vectors],
                          capture_output=True, text=True, check=True)
    tokens, seconds = map(float, done.stdout.split())
    return tokens, seconds, numpy.loadtxt(vectors, ndmin=2)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--program", required=True, help="the example `embed_speed`, built")
    arguments.add_argument("--model", type=pathlib.Path, required=True)
    arguments.add_argument("--collection", type=pathlib.Path, required=True)
    arguments.add_argument("--output", type=pathlib.Path, required=True)
    arguments.add_argument("--texts", type=int, default=400)
    given = arguments.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    lines = [json.loads(line)["text"] for line in open(given.collection / "docs.jsonl")]
    texts = [" ".join(line.split())[:1500] for line in lines[: given.texts]]
    tokens, seconds, truth = peer(given.model, texts)
    print("| | tokens per CPU-second | cosine to onnxruntime: mean, least |\n|---|---|---|")
    print(f"| onnxruntime {onnxruntime.__version__} | {tokens / seconds:,.0f} | |")
    for precision in ("float", "eight-bit"):
        tokens, seconds, found = ours(given.program, given.model, texts, precision, given.output)
        cosine = (truth * found).sum(1)
        print(f"| trawl, {precision} | {tokens / seconds:,.0f} | "
              f"{cosine.mean():.4f}, {cosine.min():.4f} |")


if __name__ == "__main__":
    main()
