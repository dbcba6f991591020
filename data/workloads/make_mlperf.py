"""Tables of one benchmark of MLPerf Training, for `scavsim import profile`.

    python3 data/workloads/make_mlperf.py RCP.json… --runs RUNS.csv --submitter NAME --accelerator NAME --round v4.0 --out OUT

RCP.json are the benchmark's reference convergence points (mlcommons/logging): epochs or samples to the target over seeds.
RUNS.csv has a row per published run, with the columns that `read_runs` names. OUT gets two tables:

- `profile.csv`: the mean step of the runs on each number of accelerators and batch. One row of each batch bears its epochs.
- `epochs.csv`: epochs of every convergence point, also of batches that nobody ran. It is a file of a workload folder.

A step is run time over steps, so it contains evaluation. Unofficial: not verified by MLCommons.
"""

import argparse
import csv
import json
import pathlib
import re
import statistics
from decimal import Decimal

# Samples in an epoch, whether progress is counted in samples, and the first round in which the name stands for this task:
# `ssd` was another network on other data before.
BENCHMARKS = {
    "resnet": (1_281_167, False, "v0.7"),
    "bert": (156_725_653, True, "v0.7"),
    "rnnt": (278_528, False, "v1.0"),
    "retinanet": (1_170_301, False, "v2.0"),
    "stable_diffusion": (6_513_144, True, "v3.1"),
}
RENAMED = {"ssd": "retinanet"}
# Systems repeat a step within a few per cent; a run that is this far off the median logged another epoch than its last.
ALIKE = 0.2


def digits(value):
    """At most nine significant digits, without an exponent."""
    return f"{Decimal(f'{value:.8e}').normalize():f}"


def write(path, head, lines):
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head.split(","), *lines])


def fastest(paths):
    """The benchmark, and of each batch its convergence point with the lowest mean: name, and what each seed took."""
    found, names = {}, set()
    for path in paths:
        # As pairs: a name that stands twice is two points.
        for name, point in json.loads(path.read_text(), object_pairs_hook=list):
            point = dict(point)
            names.add(RENAMED.get(point["Benchmark"], point["Benchmark"]))
            took = next(value for key, value in point.items() if key.lower().endswith("to converge"))
            least = found.get(point["BS"])
            if least is None or statistics.fmean(took) < statistics.fmean(least[1]):
                found[point["BS"]] = name, took
    (benchmark,) = names
    return benchmark, dict(sorted(found.items()))


def trained(row, batch, points, samples, counts_samples):
    """Samples that a run went through, or none where nobody knows."""
    logged = float(row["last_eval_epoch_or_samples"] or "nan")
    if not counts_samples or not logged <= 1:
        return logged if counts_samples else logged * samples
    # Some runs of bert log 1. Their `train_samples` are what they trained, or the whole set.
    likely = statistics.fmean(points[batch][1]) if batch in points else float("nan")
    given = float(row["train_samples"] or "nan")
    return given if likely / 2 <= given <= likely * 2 else likely


def read_runs(given, benchmark, points):
    """Seconds of a step by system and batch of the runs that were asked for, and the systems' accelerators and those per VM."""
    samples, counts_samples, since = BENCHMARKS[benchmark]
    version = lambda name: [int(number) for number in re.findall(r"\d+", name)]
    found = {}
    with given.runs.open(newline="") as file:
        for row in csv.DictReader(file):
            asked = all(row[key].lower() == getattr(given, key).lower() for key in ("submitter", "accelerator", "round"))
            same = RENAMED.get(row["benchmark"], row["benchmark"]) == benchmark and version(row["round"]) >= version(since)
            sound = row["division"] == "closed" and row["status"] == "success" and row["number_of_nodes"]
            if not (asked and same and sound):
                continue
            batch, each = int(row["global_batch_size"]), int(row["accelerators_per_node"])
            step = float(row["run_seconds"]) * batch / trained(row, batch, points, samples, counts_samples)
            if step == step:
                found.setdefault((row["system"], each, each * int(row["number_of_nodes"]), batch), []).append(step)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("points", type=pathlib.Path, nargs="+")
    for option in ("runs", "submitter", "accelerator", "round", "out"):
        parser.add_argument(f"--{option}", required=True, type=pathlib.Path if option in ("runs", "out") else str)
    parser.add_argument("--vm", help="VM type that shapes are named after; default: the accelerator")
    given = parser.parse_args()
    benchmark, points = fastest(given.points)
    samples, counts_samples, _ = BENCHMARKS[benchmark]
    vm = given.vm or "-".join(re.findall(r"[^\W_]+", given.accelerator.split("(")[0].lower()))
    epochs = {b: statistics.fmean(took) / (samples if counts_samples else 1) for b, (_, took) in points.items()}
    steps = {}
    for (_, each, workers, batch), seconds in read_runs(given, benchmark, points).items():
        middle = sorted(seconds)[len(seconds) // 2]
        # Of two, nobody knows which is wrong.
        kept = [s for s in seconds if len(seconds) < 3 or abs(s / middle - 1) <= ALIKE]
        shape = vm if each == 1 else f"{vm}/{each}"
        steps.setdefault((shape, workers, batch), []).extend(kept)
    unplaced = dict(epochs)
    lines = [
        (*key, digits(statistics.fmean(seconds)), digits(unplaced.pop(key[2])) if key[2] in unplaced else "")
        for key, seconds in sorted(steps.items())
    ]
    given.out.mkdir(parents=True, exist_ok=True)
    write(given.out / "profile.csv", "vm,workers,batch,step_s,epochs", lines)
    told = [
        (batch, digits(epochs[batch]), "measured", f"{name}: mean of {len(took)} runs")
        for batch, (name, took) in points.items()
    ]
    write(given.out / "epochs.csv", "batch,epochs,origin,source", told)
    print(f"samples per epoch: {samples}; {len(lines)} steps, of {len(points)} batches with epochs {len(unplaced)} were not run")


if __name__ == "__main__":
    main()
