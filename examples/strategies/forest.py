"""A small SMAC, without packages: `python3 forest.py 10` makes ten runs to the target by a random forest, and takes the best of them."""
import json, math, random, statistics, sys


def say(answer):
    print(json.dumps({"number": told["number"], **answer}), flush=True)
    return json.loads(sys.stdin.readline() or sys.exit())


def tree(seen, draw):  # a mean, or a column, a value in it, and the trees on both sides
    splits = [(k, row[k], [r for r in seen if r[0][k] <= row[k]], [r for r in seen if r[0][k] > row[k]])
              for row, _ in seen for k in draw.sample(range(len(row)), max(1, len(row) // 2))]
    splits = [(sum(statistics.pvariance([y for _, y in side]) * len(side) for side in s[2:]), n, s) for n, s in enumerate(splits) if s[2] and s[3]]
    column, at, low, high = min(splits)[2] if splits else (None, statistics.fmean(y for _, y in seen), None, None)
    return at if low is None else (column, at, tree(low, draw), tree(high, draw))


def value(node, row): return value(node[2] if row[node[0]] <= node[1] else node[3], row) if isinstance(node, tuple) else node


def search(configurations, spent, draw, budget):
    global told
    rows = [[int.from_bytes(v.encode(), "big") if isinstance(v, str) else v for v in c.values()] for c in configurations]
    seen, reached, left = {}, {}, draw.sample(range(len(rows)), len(rows))
    def gain(ys, n=statistics.NormalDist()):  # expected improvement on the best
        s = statistics.pstdev(ys) + 1e-9
        return s * ((z := (min(seen.values()) - statistics.fmean(ys)) / s) * n.cdf(z) + n.pdf(z))
    while left and (len(seen) < budget or not reached):
        trees = [tree([(rows[a], seen[a]) for a in draw.choices([*seen], k=len(seen))], draw) for _ in range(20 if len(seen) > 2 else 0)]
        at = left.pop(max(range(len(left)), key=lambda n: gain([value(t, rows[left[n]]) for t in trees]) if trees else 0.0))
        before, told = told.get(spent, 0.0), say({"probe": {"configuration": at, "to_target": True}})
        (reached if ok else {})[at] = seen[at] = math.log(told[spent] - before) if (ok := told["observation"]["reached_s"]) else max(seen.values(), default=0.0) + 0.3
    return {"choose": min(reached, key=reached.get)} if reached else {"fail": "no run reached the target"}


told = json.loads(sys.stdin.readline())
while True:
    told = say({"ready": True} if "over" in told else search(told["task"]["configurations"],
        "spent_s" if told["search"]["objective"] == "time" else "spent_usd", random.Random(told["search"]["seed"]), int([*sys.argv, 10][1])))
