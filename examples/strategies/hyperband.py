"""Hyperband over cheap versions of runs, `python3 hyperband.py 81`: 81 configurations on the least share, the best of them on more."""
import json, random, sys


def say(answer):
    print(json.dumps({"number": told["number"], **answer}), flush=True)
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit()


def lack(task, quality):  # by how much a quality is short of the target
    least, most = task["quality_at_least"], task["quality_at_most"]
    short = 0.0 if least is most is None else 9e9 if quality is None else least - quality if most is None else quality - most
    return max(0.0, short)


def search(task, spent, draw, first):
    global told
    shares, seen, reached, count = [*task["fidelities"], 1.0], {}, {}, len(task["configurations"])
    for bracket, least in enumerate(shares):  # each begins on a greater share, with fewer
        rung = draw.sample(range(count), min(count, max(1, int(first * shares[0] / least))))
        for level in range(bracket, len(shares)):
            for at in [at for at in rung if (at, level) not in seen]:
                before, extent = told.get(spent, 0.0), {"fidelity": shares[level]} if shares[level] < 1.0 else {"to_target": True}
                told = say({"probe": {"configuration": at, **extent}})
                seen[at, level] = lack(task, told["observation"]["quality"]), told[spent] - before or 9e9  # not run so: for nothing
                reached.update({at: told[spent] - before} if told["observation"]["reached_s"] else {})
            keep, some = shares[level] / shares[min(level + 1, len(shares) - 1)], len(rung)
            good = sum(seen[at, level][0] == 0.0 for at in rung)  # half of the way down by quality, half by what it took
            rung = sorted(rung, key=lambda at: seen[at, level][0])[:max(1, good, int(some * keep ** 0.5))]
            rung = sorted(rung, key=lambda at: seen[at, level][1])[:max(1, int(some * keep))]
    return {"choose": min(reached, key=reached.get)} if reached else {"fail": "no run reached the target"}


told = json.loads(sys.stdin.readline())
while True:
    told = say({"ready": True} if "over" in told else search(
        told["task"], "spent_s" if told["search"]["objective"] == "time" else "spent_usd", random.Random(told["search"]["seed"]), int([*sys.argv, 81][1])))
