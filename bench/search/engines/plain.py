"""The model as an ONNX graph of plain operators, for engines that do not know onnxruntime's own.

Activation and normalisation are single operators of the standard; attention is spelled out.
"""

import json

import numpy
from onnx import TensorProto, helper, numpy_helper

from embedding import weights


def plain_graph(folder):
    config = json.loads((folder / "config.json").read_text())
    w = dict(weights(folder))
    hidden, heads = config["hidden_size"], config["num_attention_heads"]
    size = hidden // heads
    nodes, constants = [], {}

    def constant(name, array):
        if name not in constants:
            constants[name] = numpy_helper.from_array(numpy.ascontiguousarray(array), name)
        return name

    def node(kind, inputs, output, **attributes):
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def linear(x, name, output, scale=1.0):
        weight = constant(f"{name}.t", w[f"{name}.weight"].T * numpy.float32(scale))
        bias = constant(f"{name}.b", w[f"{name}.bias"] * numpy.float32(scale))
        return node("Add", [node("MatMul", [x, weight], f"{output}.m"), bias], output)

    def norm(x, name, output):
        parts = [constant(f"{name}.{part}", w[f"{name}.{part}"]) for part in ("weight", "bias")]
        return node("LayerNormalization", [x, *parts], output,
                    epsilon=config["layer_norm_eps"], axis=-1)

    split = constant("split", numpy.array([0, 0, heads, size]))
    joined = constant("joined", numpy.array([0, 0, hidden]))

    def head(x, name, output, order, scale=1.0):
        rows = node("Reshape", [linear(x, name, f"{output}.l", scale), split], f"{output}.r")
        return node("Transpose", [rows], output, perm=order)

    emb = "embeddings"
    words = node("Gather", [constant("words", w[f"{emb}.word_embeddings.weight"]), "ids"], "e0")
    places = node("Gather", [constant("places", w[f"{emb}.position_embeddings.weight"]), "at"], "e1")
    kind = constant("kind", w[f"{emb}.token_type_embeddings.weight"][0])
    x = node("Add", [node("Add", [words, places], "e2"), kind], "e3")
    x = norm(x, f"{emb}.LayerNorm", "x0")
    for n in range(config["num_hidden_layers"]):
        p = f"encoder.layer.{n}"
        own = f"{p}.attention.self"
        query = head(x, f"{own}.query", f"{n}.q", [0, 2, 1, 3], size**-0.5)
        key = head(x, f"{own}.key", f"{n}.k", [0, 2, 3, 1])
        value = head(x, f"{own}.value", f"{n}.v", [0, 2, 1, 3])
        scores = node("Add", [node("MatMul", [query, key], f"{n}.s"), "bias"], f"{n}.sb")
        shares = node("Softmax", [scores], f"{n}.p", axis=-1)
        context = node("MatMul", [shares, value], f"{n}.c")
        context = node("Transpose", [context], f"{n}.ct", perm=[0, 2, 1, 3])
        context = node("Reshape", [context, joined], f"{n}.cr")
        out = linear(context, f"{p}.attention.output.dense", f"{n}.o")
        x = norm(node("Add", [out, x], f"{n}.a1"), f"{p}.attention.output.LayerNorm", f"{n}.x1")
        wide = node("Gelu", [linear(x, f"{p}.intermediate.dense", f"{n}.h")], f"{n}.g")
        out = linear(wide, f"{p}.output.dense", f"{n}.d")
        x = norm(node("Add", [out, x], f"{n}.a2"), f"{p}.output.LayerNorm", f"{n}.x2")
    whole = helper.make_graph(
        nodes, "bert",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["b", "s"]),
         helper.make_tensor_value_info("at", TensorProto.INT64, ["s"]),
         helper.make_tensor_value_info("bias", TensorProto.FLOAT, ["b", 1, 1, "s"])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["b", "s", hidden])],
        list(constants.values()),
    )
    return helper.make_model(whole, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
