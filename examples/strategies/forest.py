"""A small SMAC, without packages: `python3 forest.py 10` makes ten runs to the target by a random forest, and takes the best of them."""
import json, math, random, statistics, sys


def say(answer):
    print(json.dumps({"number": told["number"], **answer}), flush=True)
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit()


def tree(seen, draw):  # a mean, or a column, a value in it, and the trees on both sides
    splits = [(k, row[k], [r for r in seen if r[0][k] <= row[k]], [r for r in seen if r[0][k] > row[k]])
              for row, _ in seen for k in draw.sample(range(len(row)), max(1, len(row) // 2))]
    splits = [(sum(statistics.pvariance([y for _, y in side]) * len(side) for side in s[2:]), n, s) for n, s in enumerate(splits) if s[2] and s[3]]
    column, at, low, high = min(splits)[2] if splits else (None, statistics.fmean(y for _, y in seen), None, None)
    return at if low is None else (column, at, tree(low, draw), tree(high, draw))


def value(node, row): return value(node[2] if row[node[0]] <= node[1] else node[3], row) if isinstance(node, tuple) else node


def search(configurations, objective, draw, budget):
    global told
    rows = [[int.from_bytes(v.encode(), "big") if isinstance(v, str) else v for v in c.values()] for c in configurations]
    seen, reached, before_usd, left = {}, {}, 0.0, draw.sample(range(len(rows)), len(rows))
    while left and (len(seen) < budget or not reached):
        trees = [tree([(rows[a], seen[a]) for a in draw.choices([*seen], k=len(seen))], draw) for _ in range(20 if len(seen) > 2 else 0)]
        at = max(left, key=lambda at: sum(max(0.0, min(seen.values()) - value(t, rows[at])) for t in trees))  # expected improvement
        told, _ = say({"probe": {"configuration": at, "to_target": True}}), left.remove(at)
        seconds, usd, before_usd = told["observation"]["reached_s"], told["spent_usd"] - before_usd, told["spent_usd"]
        seen[at] = math.log(usd if objective == "cost" else seconds) if seconds else max(seen.values(), default=0.0) + 0.3
        reached.update({at: seen[at]} if seconds else {})
    return {"choose": min(reached, key=reached.get)} if reached else {"fail": "no run reached the target"}


told = json.loads(sys.stdin.readline())
while True:
    told = say({"ready": True} if "over" in told else search(
        told["task"]["configurations"], told["search"]["objective"], random.Random(told["search"]["seed"]), int(sys.argv[1])))
