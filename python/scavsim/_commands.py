"""What scavsim can be asked beside runs: `rank`, `advise`, `compare` and the like, in this process."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Iterable, List, Literal, Mapping, Optional, Sequence, Union

from . import _scenario
from ._answers import Advice, Comparison, Ranking, in_order
from ._ask import as_csv, ask, asked, words
from ._table import Table, ordered

# The order of columns of lists; those that are not named come after.
_ORDER = ["workload", "model", "policy", "strategy", "left_out", "of", "provider", "vm", "region", "market", "usd_per_hour", "vcpu", "memory_gib", "gpu", "gpus",
          "network_gbps", "on_demand_usd", "spot_usd", "from", "to", "date", "usd", "per"]

Path = Union[str, "os.PathLike[str]"]
Objective = Literal["time", "cost", "knee"]


def run_into(scenario: _scenario.Given, out: Path, *, records: Literal["csv", "jsonl", "parquet"] = "csv", overwrite: bool = False,
             resume: bool = False, jobs: Optional[int] = None, programs: bool = False, **overrides: Any) -> pathlib.Path:
    """Runs a scenario and writes a folder of results, as `plot`, `report` and the program read it. Cases without a result are listed in
    its `failures.csv`.

    Args:
        scenario: a path; a text of TOML; a dict; a `Scenario`.
        out: the folder.
        records: form of the records.
        overwrite: replace the results that are there.
        resume: go on with what an interrupted run left there.
        jobs: threads; all cores if absent.
        programs: start the programs that a scenario names whose file is outside of the working folder.
        overrides: keys of the scenario; `cluster__workers=[8, 16]` is `cluster.workers`.

    Returns:
        The folder.

    Raises:
        Mistakes: all that is wrong with the scenario, with its places; or that an interrupted run is there, and neither `resume` nor
            `overwrite` says what becomes of it.

    Example:
        >>> import scavsim, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     out = scavsim.run_into({"workloads": ["scavenger-resnet18"], "replicas": 2}, f"{folder}/out")
        ...     (out / "records.csv").exists()
        True
    """
    options = {"out": os.fspath(out), "records": records, "overwrite": overwrite, "resume": resume, "jobs": jobs, "programs": programs}
    file, given, set_, places = asked(scenario, overrides)
    ask("run_into", "run", file, *words(options), *set_, given=given, fine=(0, 3), places=places)
    return pathlib.Path(out)


def rank(scenario: _scenario.Given, *, objective: Optional[Objective] = None, runs: Optional[int] = None, seed: Optional[int] = None,
         best_of_each_vm: bool = False, jobs: Optional[int] = None, **overrides: Any) -> Ranking:
    """What every configuration of a scenario takes in hours and costs in USD, the best first.

    Args:
        scenario: a path; a text of TOML; a dict; a `Scenario`.
        objective: sort by `time`, `cost` or `knee`; by the scenario's first objective if absent.
        runs: simulated runs of each configuration [400].
        seed: replaces that of the scenario.
        best_of_each_vm: keep only the best of the configurations on the same VM types.
        jobs: threads; all cores if absent. Results do not depend on it.
        overrides: keys of the scenario; `cluster__workers=[8, 16]` is `cluster.workers`.

    Raises:
        Mistakes: all that is wrong with the scenario, with its places.

    Example:
        >>> import scavsim
        >>> ranked = scavsim.rank({"workloads": ["scavenger-resnet18"]}, objective="time", runs=20)
        >>> ranked.best.workers, ranked.best.batch
        (20, 1024)
    """
    options = {"objective": objective, "runs": runs, "seed": seed, "best_of_each_vm": best_of_each_vm, "jobs": jobs}
    file, given, set_, places = asked(scenario, overrides)
    told = ask("rank", "rank", file, "--format", "json", *words(options), *set_, given=given, places=places)
    return Ranking(in_order(json.loads(told)["configurations"]))


def advise(measurements: Any = None, *, samples_per_epoch: Optional[int] = None, objective: Objective = "cost", max_time: Optional[float] = None,
           mean_time: Optional[float] = None, max_cost: Optional[float] = None, max_miss: Optional[float] = None, epochs: Optional[float] = None,
           unit: Optional[Literal["s", "ms"]] = None, batch: Optional[Literal["global", "local"]] = None, restore_s: Optional[float] = None,
           vm: Optional[str] = None, workers: Optional[int] = None, batch_size: Optional[int] = None, tokens_per_sample: Optional[int] = None,
           parameters: Optional[int] = None, provider: Optional[str] = None, region: Optional[str] = None,
           market: Optional[Literal["on-demand", "spot", "any"]] = None, commitment: Optional[Literal["1y", "3y"]] = None,
           only_measured: bool = False, usd_per_hour: Optional[Mapping[str, float]] = None,
           max_usd_per_hour: Optional[float] = None, max_spot_usd: Optional[Union[float, Mapping[str, float]]] = None,
           reserved: Optional[Mapping[str, int]] = None,
           setup_min: Optional[float] = None, steps: Optional[int] = None, times: Optional[int] = None, runs: Optional[int] = None,
           model: Optional[str] = None, tokens: Optional[float] = None, sequence: Optional[int] = None, global_batch: Optional[int] = None,
           runtime: Optional[str] = None, precision: Optional[str] = None, gpus: Optional[Sequence[str]] = None, most_gpus: Optional[int] = None,
           train: Optional[str] = None, optimizer: Optional[str] = None, samples: Optional[int] = None, mean_length: Optional[int] = None,
           padding: bool = False,
           deadline: Optional[str] = None, policy: Optional[Union[str, Sequence[str]]] = None, now: Optional[str] = None,
           spot_run_h: Optional[float] = None, spot_pause_h: Optional[float] = None, jobs: Optional[int] = None, **options: Any) -> Advice:
    """Which configuration to take, and which measurement to make next; from measurements, or from a `model` that nobody measured.

    Args:
        measurements: a profile: a data frame, a dict of columns or the path of a CSV with `vm`, `workers`, `batch`, `step_s` and, where
            known, `compute_s`, `communication_s`, `noise` (γ/K), `epochs`.
        samples_per_epoch: samples in one pass over the data.
        objective: what to look for.
        max_time: longest time in hours of 95 % of runs (`max_miss`).
        mean_time: longest mean time in hours.
        max_cost: highest cost in USD of 95 % of runs (`max_miss`).
        max_miss: share of runs that may be beyond a limit; 0.05 if absent, or more where nothing keeps a limit so surely.
        epochs: passes over the data to the target, for batches without their own.
        unit: unit of the times in the table.
        batch: whose samples `batch` counts.
        restore_s: seconds to restore a checkpoint in a new configuration.
        vm, workers, batch_size: what a log or an export ran on, which does not say it.
        tokens_per_sample: tokens of a sample, where a table has tokens per second.
        parameters: parameters of the model, whose gradients workers exchange.
        provider, region, market: which prices.
        commitment: price of VMs that are committed for this term, in place of a market.
        only_measured: only VM types that were measured, none of the rest of the catalogue.
        usd_per_hour: USD per hour on demand of VM types, whatever the catalogue says.
        max_usd_per_hour: USD per hour that all VMs together may cost.
        max_spot_usd: highest spot price in USD per hour, of all VM types or by VM type.
        reserved: VMs that are paid for, by VM type: so many cost nothing more, further ones are on demand.
        setup_min: minutes until VMs train.
        steps: steps of a measurement.
        times: how often the job is to be trained: what a measurement saves, it saves each time.
        runs: simulated runs of each configuration.
        model, tokens, sequence, global_batch, runtime, precision, gpus, most_gpus: in place of measurements, a model by name or file and the
            tokens to train it on.
        train: what is fine-tuned of the model: `full`, `lora:16`, `qlora:16`, `lora:16:attention`, `frozen:24`.
        optimizer: of a fine-tuning: `adamw`, `adamw-8bit`.
        samples, mean_length, padding: in place of tokens, samples of so many tokens in the mean, `epochs` times; each in a sequence of its own
            with `padding`, else packed.
        deadline: when the job shall be done: `"60h"`, `"Fri 18:00"`, `"2026-12-04 18:00"`, in UTC. What is taken then is a configuration
            under a policy, which says when to take spot machines, when to wait, when to go on demand.
        policy: with a deadline, the policies to choose from; all that keep deadlines if absent.
        now: with a deadline, what counts as now; the clock if absent.
        spot_run_h, spot_pause_h: with a deadline, mean hours until a spot VM is lost, and until there are others.
        jobs: threads; all cores if absent.
        options: further options of `scavsim advise`.

    Raises:
        Mistakes: all that is wrong with the measurements and the question, with its places.

    Example:
        >>> import scavsim
        >>> measured = {
        ...     "vm": ["g5.xlarge"] * 4, "workers": [1, 1, 2, 2], "batch": [64, 128, 64, 128],
        ...     "step_s": [0.08, 0.15, 0.05, 0.09], "epochs": [9.1, 9.2, 9.1, 9.2],
        ... }
        >>> advice = scavsim.advise(measured, samples_per_epoch=50_000, market="on-demand", runs=20)
        >>> advice.best.time_p5_h <= advice.best.time_h <= advice.best.time_p95_h
        True
    """
    own = {
        "samples_per_epoch": samples_per_epoch, "objective": objective, "max_time": max_time, "mean_time": mean_time, "max_cost": max_cost, "max_miss": max_miss,
        "epochs": epochs, "unit": unit, "batch": batch, "restore_s": restore_s, "vm": vm, "workers": workers, "batch_size": batch_size,
        "tokens_per_sample": tokens_per_sample, "parameters": parameters, "provider": provider, "region": region,
        "market": market, "commitment": commitment, "only_measured": only_measured,
        "usd_per_hour": usd_per_hour, "max_usd_per_hour": max_usd_per_hour, "max_spot_usd": max_spot_usd, "reserved": reserved,
        "setup_min": setup_min, "steps": steps, "times": times, "runs": runs, "model": model,
        "tokens": tokens, "sequence": sequence, "global_batch": global_batch, "runtime": runtime, "precision": precision,
        "gpus": ",".join(gpus) if gpus else None, "most_gpus": most_gpus, "train": train, "optimizer": optimizer, "samples": samples,
        "mean_length": mean_length, "padding": padding, "deadline": deadline,
        "policy": policy if policy is None or isinstance(policy, str) else ",".join(policy), "now": now, "spot_run_h": spot_run_h,
        "spot_pause_h": spot_pause_h, "jobs": jobs, **options,
    }
    if measurements is None:
        if model is None:
            raise TypeError("advise() needs measurements with samples_per_epoch, or a model with tokens or samples")
        told = ask("advise", "advise", "--format", "json", *words(own), fine=(0, 3))
    else:
        with as_csv(measurements) as (file, aside):
            told = ask("advise", "advise", file, "--format", "json", *words(own), fine=(0, 3), aside=aside)
    return Advice(json.loads(told))


def compare(*scenarios: _scenario.Given, repeats: Sequence[int] = (), halves: Optional[int] = None, replicas: Optional[int] = None,
            seed: Optional[int] = None, against: Optional[str] = None, jobs: Optional[int] = None, programs: bool = False, **overrides: Any) -> Comparison:
    """Strategies beside each other: ranks, ratios, how sure these are, and where each strategy loses.

    Args:
        scenarios: scenarios that name the same strategies: files; or one text, dict or `Scenario`.
        repeats: how often the job is run; a comparison for each number.
        halves: in place of each workload so many random halves of its configurations.
        replicas, seed: replace those of the scenarios.
        against: hold the others against this strategy, named before the figures are known.
        jobs: threads; all cores if absent. Results do not depend on it.
        programs: start the programs that a scenario names whose file is outside of the working folder.
        overrides: keys of the scenarios; `search__strategies=["full", "random"]` is `search.strategies`.

    Raises:
        Mistakes: all that is wrong with the scenarios, with its places.

    Example:
        >>> import scavsim
        >>> job = {"workloads": ["scavenger-resnet18"], "replicas": 10}
        >>> scavsim.compare(job, search__strategies=["cherrypick", "random"], search__objectives=["cost"]).best.strategy
        'random'
    """
    if not scenarios:
        raise TypeError("compare() needs a scenario")
    read = [asked(scenario, {}) for scenario in scenarios]
    texts = [given for _, given, _, _ in read if given is not None]
    if len(texts) > 1:
        raise TypeError("compare() takes one scenario that is no file: write the others into files")
    options = {"repeats": ",".join(map(str, repeats)) or None, "halves": halves, "replicas": replicas, "seed": seed, "against": against, "jobs": jobs,
               "programs": programs}
    places = next((places for _, given, _, places in read if given is not None), [])
    told = ask("compare", "compare", *(file for file, *_ in read), "--format", "json", *words(options), *_scenario.set_words(overrides),
               given=texts[0] if texts else None, places=places)
    return Comparison(json.loads(told))


def import_profile(measurements: Any, out: Path, *, samples_per_epoch: int, epochs: Optional[float] = None, force: bool = False,
                   show: bool = True, **options: Any) -> pathlib.Path:
    """Makes measurements a workload folder, which scenarios can name.

    Args:
        measurements: a data frame, a dict of columns or the path of a CSV with `vm`, `workers`, `batch`, `step_s` and, where known, `compute_s`,
            `communication_s`, `noise` (γ/K), `epochs`.
        out: the folder.
        samples_per_epoch: samples in one pass over the data.
        epochs: passes over the data to the target, for batches without their own.
        force: replace a folder that is there.
        show: print what was found and assumed.
        options: further options of `scavsim import profile`.

    Returns:
        The folder.

    Raises:
        Mistakes: all that is wrong with the measurements, with its places.
    """
    with as_csv(measurements) as (file, aside):
        own = words({"samples_per_epoch": samples_per_epoch, "epochs": epochs, "out": os.fspath(out), "force": force, **options})
        told = ask("import_profile", "import", "profile", file, *own, aside=aside)
    if show:
        print(told, end="")
    return pathlib.Path(out)


def validate(*workloads: Path) -> Table:
    """Measurements left out of workloads, and what the rest says of them: a row for each way of leaving out.

    Args:
        workloads: names of shipped workloads, or folders; all shipped ones where none is named.

    Raises:
        Mistakes: all that is wrong with the workloads.

    Example:
        >>> import scavsim
        >>> {row.workload for row in scavsim.validate("scavenger-resnet18")}
        {'scavenger-resnet18'}
    """
    return _items(ask("validate", "validate", *(os.fspath(own) for own in workloads), "--format", "json"))


def reproduce(*papers: str, programs: bool = False) -> Any:
    """Published figures beside those of scavsim, as `scavsim reproduce --format json` has them.

    Args:
        papers: names of shipped papers, or folders; all shipped ones where none is named.
        programs: start the programs that scenarios of a folder name.
    """
    told = ask("reproduce", "reproduce", *papers, "--format", "json", *words({"programs": programs}), fine=(0, 4))
    return json.loads(told)


def plot(results: Path, out: Path, *, kind: Union[str, Iterable[str]] = "all", **options: Any) -> List[pathlib.Path]:
    """Figures of a folder of results that `run_into` wrote, as SVG, PNG and Vega-Lite.

    Args:
        results: the folder of results.
        out: the folder for the figures.
        kind: kinds of figures; all that the results have if absent.
        options: further options of `scavsim plot`, as `form="svg"`.

    Returns:
        The files.
    """
    kinds = [kind] if isinstance(kind, str) else list(kind)
    ask("plot", "plot", os.fspath(results), *words({"kind": kinds, "out": os.fspath(out), **options}))
    return sorted(pathlib.Path(out).iterdir())


def report(results: Path, out: Optional[Path] = None, **options: Any) -> pathlib.Path:
    """One page of a folder of results that `run_into` wrote; it needs no network.

    Args:
        results: the folder of results.
        out: the file; `report.html` in the folder if absent.
        options: further options of `scavsim report`, as `scenario="scenario.toml"`.

    Returns:
        The file.
    """
    ask("report", "report", os.fspath(results), *words({"out": None if out is None else os.fspath(out), **options}))
    return pathlib.Path(out) if out is not None else pathlib.Path(results) / "report.html"


def workloads() -> Table:
    """The shipped workloads, whose names scenarios take.

    Example:
        >>> import scavsim
        >>> "scavenger-resnet18" in scavsim.workloads().column("workload")
        True
    """
    return _listed("workloads")


def strategies() -> Table:
    """The search strategies, whose names scenarios take."""
    return _listed("strategies")


def policies() -> Table:
    """The built-in pricing policies, whose names scenarios take."""
    return _listed("pricing", "policies")


def vms(*, provider: Optional[str] = None, gpu: Optional[str] = None, region: Optional[str] = None) -> Table:
    """VM types of the catalogue.

    Args:
        provider: of this provider.
        gpu: with this GPU; `"any"` is any.
        region: with a price in this region, with the latest on-demand and spot price there.

    Raises:
        Mistakes: a provider, GPU or region that is not known, with what is.

    Example:
        >>> import scavsim
        >>> {vm.gpu for vm in scavsim.vms(provider="aws", gpu="T4")}
        {'T4'}
    """
    return _listed("vms", provider=provider, gpu=gpu, region=region)


def prices(*, provider: Optional[str] = None, gpu: Optional[str] = None, region: Optional[str] = None) -> Table:
    """Prices of VM types in USD per hour, by region, market and day.

    Args:
        provider: of VM types of this provider.
        gpu: of VM types with this GPU; `"any"` is any.
        region: in this region.

    Raises:
        Mistakes: a provider, GPU or region that is not known, with what is.

    Example:
        >>> import scavsim
        >>> {price.region for price in scavsim.prices(gpu="T4", region="us-east-1")}
        {'us-east-1'}
    """
    return _listed("prices", provider=provider, gpu=gpu, region=region)


def _listed(what: str, function: Optional[str] = None, **filters: Any) -> Table:
    return _items(ask(function or what, "list", what, "--format", "json", *words(filters)))


def _items(told: str) -> Table:
    rows = json.loads(told)["items"]
    return Table([{name: row[name] for name in ordered(row, _ORDER)} for row in rows])
