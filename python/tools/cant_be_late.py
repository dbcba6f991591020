"""Policies on traces of availability that are not shipped, through the doors that users have.

    python3 python/tools/cant_be_late.py TRACES [--scavsim PROGRAM] [--starts 20] [--odd | --even]

TRACES is a folder with `*.json` below it, each `{"metadata": {"gap_seconds": S}, "data": [machines, …]}`, such as the traces of
Can't Be Late (NSDI 2024). Each becomes a market by `scavsim import market`, a zone by itself, and `scavsim run` puts policies
beside each other on it: 48 h of work on as many machines as the trace ever has, deadlines of 52 and 70 h, changeovers of 3 and
12 minutes. It prints the mean of lives' costs over those of whoever knows what comes, and by family (the folder of a trace) what
`cost-to-go` costs over the best of the others. Traces shorter than a job are left out, and said.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

SCENARIO = """\
seed = 1
job = {{ work_h = 48, deadline_h = {deadline}, changeover_s = [180, 720], machines = {machines} }}
market.traces = "market"
starts.spread = {starts}
"""


def lives(program, trace, starts, folder):
    """Records over both deadlines, as far as the trace is long enough."""
    data = json.loads(trace.read_text())
    hours = data["metadata"]["gap_seconds"] * len(data["data"]) / 3600
    deadlines = [deadline for deadline in (52, 70) if deadline <= hours]
    if not deadlines or not max(data["data"]):
        return None
    call = lambda *arguments: subprocess.run(
        [program, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    call("import", "market", str(trace.resolve()), "--on-demand-usd-per-h", "3.06",
         "--spot-usd-per-h", "0.9731", "--out", "market")
    scenario = SCENARIO.format(deadline=deadlines, machines=max(data["data"]), starts=starts)
    policies = "policy.names = [\"on-demand\", \"greedy\", \"time-sliced\", \"price-threshold\", " \
        "\"uniform-progress\", \"skynomad\", \"cost-to-go\"]\n"
    (pathlib.Path(folder) / "scenario.toml").write_text(scenario + policies)
    call("run", "scenario.toml", "--out", "out")
    with open(pathlib.Path(folder) / "out" / "records.csv", newline="") as file:
        return list(csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("traces", type=pathlib.Path)
    parser.add_argument("--scavsim", default="scavsim")
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--odd", action="store_true", help="only every other trace, the second first")
    parser.add_argument("--even", action="store_true", help="only every other trace, the first first")
    asked = parser.parse_args()
    traces = sorted(asked.traces.rglob("*.json"))
    if asked.odd or asked.even:
        traces = traces[1 if asked.odd else 0 :: 2]
    if not traces:
        sys.exit(f"no *.json below {asked.traces}")
    ratios, left_out, late = {}, [], 0
    for trace in traces:
        with tempfile.TemporaryDirectory() as folder:
            rows = lives(asked.scavsim, trace, asked.starts, folder)
        if rows is None:
            left_out.append(trace.stem)
            continue
        family = str(trace.parent.relative_to(asked.traces))
        for row in rows:
            late += row["kept_net"] != "1.0"
            setting = dict(key.split("=") for key in row["setting"].split(";"))
            job = (float(setting["job.deadline_h"]), float(setting["job.changeover_s"]))
            ratio = float(row["cost_usd"]) / float(row["oracle_cost_usd"])
            ratios.setdefault((job, row["strategy"]), {}).setdefault(family, []).append(ratio)
    jobs = sorted({job for job, _ in ratios})
    policies = [policy for job, policy in ratios if job == jobs[0] and policy != "clairvoyant"]
    mean = lambda values: sum(values) / len(values)
    print(f"{len(traces) - len(left_out)} traces, {asked.starts} starts; too short: {', '.join(left_out) or 'none'}; late lives: {late}")
    print(f"{'deadline, changeover':22}" + "".join(f"{policy:>18}" for policy in policies))
    for job in jobs:
        over = [mean([one for own in ratios[job, policy].values() for one in own]) for policy in policies]
        print(f"{job[0]:.0f} h, {job[1] / 60:.0f} min".ljust(22) + "".join(f"{one:18.3f}" for one in over))
    print("\ncost-to-go over the best of the others, by family")
    for family in sorted({family for own in ratios.values() for family in own}):
        cells = []
        for job in jobs:
            own = {policy: mean(ratios[job, policy][family]) for policy in policies if family in ratios[job, policy]}
            if own:
                best = min(value for policy, value in own.items() if policy != "cost-to-go")
                cells.append(f"{100 * (own['cost-to-go'] / best - 1):+8.1f} %")
        print(f"{family:38}" + "".join(cells))


if __name__ == "__main__":
    main()
