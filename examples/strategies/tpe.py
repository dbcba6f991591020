"""Optuna's TPE (`pip install optuna`): `python3 tpe.py 10` makes ten runs to the target, and takes the best of them."""
import json, sys

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)


def say(answer):
    print(json.dumps({"number": told["number"], **answer}), flush=True)
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit()


def search(configurations, objective, seed, budget):
    global told
    levels = {key: list(dict.fromkeys(c[key] for c in configurations)) for key in configurations[0]}
    places = {tuple(c.values()): at for at, c in enumerate(configurations)}
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=5))
    value, worst, before_usd = {}, 1.0, 0.0
    while len(value) < len(configurations):
        trial = study.ask()
        at = places.get(tuple(trial.suggest_categorical(key, own) for key, own in levels.items()))
        if at is not None and at not in value:
            told = say({"probe": {"configuration": at, "to_target": True}})
            seconds, usd = told["observation"]["reached_s"], told["spent_usd"] - before_usd
            value[at], before_usd = (usd if objective == "cost" else seconds) if seconds else None, told["spent_usd"]
            worst = max(worst, value[at] or 0.0)
        study.tell(trial, value.get(at) or 3 * worst)  # a hole is as bad as a failure
        reached = [at for at in value if value[at]]
        if reached and len(value) >= budget:
            return {"choose": min(reached, key=value.get)}
    return {"fail": "no run reached the target"}


told = json.loads(sys.stdin.readline())
while True:
    told = say({"ready": True} if "over" in told else search(
        told["task"]["configurations"], told["search"]["objective"], told["search"]["seed"], int([*sys.argv, 10][1])))
