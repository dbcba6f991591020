"""Tables of one model of Sailor (SOSP 2025), for `scavsim import layers`.

    python3 data/layers/make_sailor.py FOLDER --model OPT-350 --out OUT

FOLDER has `profiles.json`, `llm_info.json` and `network_coeffs_all_homo.json` of eth-easl/sailor. OUT gets three tables:

- `times.csv`: seconds of each layer by GPU, tensor degree and micro-batch.
- `memory.csv`: parameters and bytes of each layer by tensor degree, and its all-reduces.
- `links.csv`: bandwidths inside a node and between nodes, of all models.
"""

import argparse
import csv
import json
import pathlib
from decimal import Decimal


def digits(value, most):
    """At most so many significant digits, without an exponent."""
    return f"{Decimal(f'{value:.{most - 1}e}').normalize():f}"


def write(path, head, lines):
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head.split(","), *lines])


def numbered(table):
    """The entries of a table whose keys are numbers, in their order."""
    return sorted((int(key), value) for key, value in table.items())


def times(profiles):
    """By GPU, micro-batch, tensor degree and layer: seconds of forward, backward and update."""
    for gpu, micro_batches in sorted(profiles.items()):
        for micro_batch, degrees in numbered(micro_batches):
            for tensor, layers in numbered(degrees):
                for layer, seconds in numbered(layers):
                    yield gpu, tensor, micro_batch, layer, *(digits(s, 9) for s in seconds)


def memory(info):
    """By tensor degree and layer: parameters, bytes that are kept and handed on, and all-reduces in the forward pass.

    Megatron adds up activations twice in a transformer layer, once in an embedding or a head that is cut: a layer is cut if
    each GPU has fewer of its parameters at a higher degree.
    """
    degrees = numbered(info)
    least, most = degrees[0][1], degrees[-1][1]
    for tensor, layers in degrees:
        for layer, figures in numbered(layers):
            is_cut = most[str(layer)]["params_floats"] < least[str(layer)]["params_floats"]
            is_end = layer in (0, len(layers) - 1)
            all_reduces = (1 if is_end else 2) if is_cut else 0
            columns = ("params_floats", "act_mem_bytes", "act_output_bytes")
            yield tensor, layer, *(figures[column] for column in columns), all_reduces


def links(scopes):
    """By scope, GPU and GPUs of a node: coefficients of the bandwidth, and its cap in GB/s."""
    for theirs, ours in (("intra", "in-node"), ("inter", "between-nodes")):
        for gpu, counts in sorted(scopes[theirs].items()):
            for count, (coefficients, cap) in numbered(counts):
                yield ours, gpu, count, *(digits(x, 6) for x in (*coefficients, cap / 1e9))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    given = parser.parse_args()
    read = lambda name: json.loads((given.folder / name).read_text())
    given.out.mkdir(parents=True, exist_ok=True)
    head = "gpu,tensor,micro_batch,layer,forward_s,backward_s,update_s"
    write(given.out / "times.csv", head, times(read("profiles.json")[given.model]))
    head = "tensor,layer,parameters,stored_bytes,output_bytes,all_reduces"
    write(given.out / "memory.csv", head, memory(read("llm_info.json")[given.model]))
    write(given.out / "links.csv", "scope,gpu,gpus,a,b,c,cap_gb_per_s", links(read("network_coeffs_all_homo.json")))


if __name__ == "__main__":
    main()
