"""Tables of one application of the Pollux artifact (Qiao et al., OSDI 2021), for `scavsim import profile`.

    python3 data/workloads/make_pollux.py FOLDER --out OUT [--vm TYPE] [--samples-per-epoch N]

FOLDER has `placements.csv`, `scalability.csv` or both (seconds of a step) and a `validation-B.csv` per global batch B (a whole
run), as in petuum/adaptdl, branch osdi21-artifact, simulator/traces. OUT gets three tables:

- `profile.csv`: every measured step. One row of each batch that has a run bears its epochs, one with several workers its noise.
- `epochs.csv`: epochs of every run, also of batches at which no step was measured.
- `phi.csv`: the noise scale of every run, piece by piece.

The last two are files of a workload folder; `profile.csv` has no place for what they hold beyond it.
"""

import argparse
import csv
import pathlib
from decimal import Decimal

# A run that ends this share short of the target has reached it: progress is a sum of rounded figures.
ROUNDING = 1e-4
# Bounds of the noise scale over the batch, and of the batch over it: beyond, the pace of a run tells no more.
BOUND = 1e6


def digits(value):
    """At most nine significant digits, without an exponent."""
    return f"{Decimal(f'{value:.8e}').normalize():f}"


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write(path, head, lines):
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head.split(","), *lines])


def shape(vm, each):
    """The name of VMs with so many workers on each: the type, or TYPE/2, or TYPE/1-2-4."""
    if len(set(each)) > 1:
        return f"{vm}/" + "-".join(map(str, each))
    return vm if each[0] == 1 else f"{vm}/{each[0]}"


def steps(folder, vm):
    """Measured steps: VM shape, workers, global batch, seconds, and seconds of communication that compute did not hide."""
    for name in ("placements.csv", "scalability.csv"):
        path = folder / name
        for row in rows(path) if path.exists() else []:
            if "placement" in row:
                # A digit per VM.
                each = [int(digit) for digit in row["placement"]]
                placed, workers = shape(vm, each), sum(each)
            else:
                vms, workers = int(row["num_nodes"]), int(row["num_replicas"])
                placed = f"{vm}/{workers}@{vms}" if workers % vms else shape(vm, [workers // vms])
            batch = workers * int(float(row["local_bsz"]))
            yield placed, workers, batch, float(row["step_time"]), float(row["sync_time"])


def runs(folder):
    """Whole runs by batch: progress in steps at the smallest batch, steps, and gradient variance over its squared norm."""
    found = {}
    for path in folder.glob("validation-*.csv"):
        read = lambda row: [float(row[column]) for column in ("progress", "iteration", "grad_var", "grad_sqr")]
        table = [(p, i, var / (sqr or float("nan"))) for p, i, var, sqr in map(read, rows(path))]
        found[int(path.stem.split("-")[1])] = table
    return dict(sorted(found.items()))


def scale(batch, initial, pace):
    """The noise scale in samples under which a step at this batch makes the progress of `pace` steps at the initial one."""
    most = BOUND * batch
    if pace * initial >= batch:
        return most
    return min(max(batch * initial * (pace - 1) / (batch - pace * initial), batch / BOUND), most)


def pieces(batch, run, initial):
    """The noise scale in each piece of a run, with the progress at which the piece ends."""
    found, before = [], (0.0, 0.0)
    for progress, step, ratio in run:
        pace = (progress - before[0]) / (step - before[1])
        before = progress, step
        # At the initial batch every noise scale gives the pace 1; a row without one belongs to the next piece.
        noise = scale(batch, initial, pace) if batch > initial else initial * ratio
        if batch > initial or 0 < noise < float("inf"):
            found.append((progress, noise))
    return found[:-1] + [(run[-1][0], found[-1][1])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--vm", default="g4dn.12xlarge")
    parser.add_argument("--samples-per-epoch", type=int, help="default: from the run at the smallest batch, a row per pass")
    given = parser.parse_args()
    found = runs(given.folder)
    initial = min(found)
    target, last, _ = found[initial][-1]
    samples = given.samples_per_epoch or round(last * initial / len(found[initial]))
    found = {batch: run for batch, run in found.items() if run[-1][0] >= target * (1 - ROUNDING)}
    epochs = {batch: digits(run[-1][1] * batch / samples) for batch, run in found.items()}
    # Of the whole run; at the initial batch nothing tells it.
    noise = {batch: scale(batch, initial, run[-1][0] / run[-1][1]) for batch, run in found.items() if batch > initial}
    profile, passes = [], dict(epochs)
    for vm, k, batch, step, sync in sorted(steps(given.folder, given.vm)):
        phi = noise.pop(batch, None) if k > 1 else None
        # γ/K of a synchronous step.
        normalised = digits((batch + k * phi) / (k * (batch + phi))) if phi else ""
        profile.append((vm, k, batch, step, sync, normalised, passes.pop(batch, "")))
    ends, scales = [], []
    for batch, run in found.items():
        ends.append((batch, epochs[batch], "measured", f"validation-{batch}: {digits(run[-1][1])} steps"))
        how = f"validation-{batch}: " + (f"{initial} grad_var/grad_sqr" if batch == initial else "pace of the run")
        done = 0.0
        for until, phi in pieces(batch, run, initial):
            if min(until, target) > done:
                done = min(until, target)
                scales.append((batch, digits(done), digits(phi), "derived", how))
    given.out.mkdir(parents=True, exist_ok=True)
    write(given.out / "profile.csv", "vm,workers,batch,step_s,communication_s,noise,epochs", profile)
    write(given.out / "epochs.csv", "batch,epochs,origin,source", ends)
    write(given.out / "phi.csv", "batch,progress,noise_scale_samples,origin,source", scales)
    print(f"samples per epoch: {samples}; target: {digits(target)} steps at batch {initial}")


if __name__ == "__main__":
    main()
