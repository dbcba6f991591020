"""What `advise`, `rank` and `compare` answer, as objects."""

from __future__ import annotations

import html
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence

from ._table import Row, Shown, Table, as_is, between, chance, for_people, ordered, percent

# The order of columns; those that are not named come after.
_ORDER = ["scenario", "workload", "pricing", "setting", "objective", "sorted_by", "part", "repeats", "strategy", "rank", "what", "gpu", "vm", "vms", "gpus", "held",
          "workers", "batch", "other", "plan", "policy", "market", "provider", "region", "time_h", "time_p5_h", "time_p95_h", "cost_usd", "cost_p5_usd",
          "cost_p95_usd", "miss", "over_best", "chance_better", "on_front", "provenance", "net_mean", "net_median", "net_p90", "rank_low", "rank_high"]

_CLUSTER = ("cluster", lambda row: f"{row.get('vms') or ''} × {row.get('vm') or row.get('held') or ''}".strip(" ×"))
_CHOICES: Shown = [
    _CLUSTER, ("workers", as_is("workers")), ("batch", as_is("batch")), ("plan", as_is("plan")), ("policy", as_is("policy")), ("market", as_is("market")), ("region", as_is("region")),
    ("time, h (90 %)", between("time_h", "time_p5_h", "time_p95_h")), ("cost, USD (90 %)", between("cost_usd", "cost_p5_usd", "cost_p95_usd")),
    ("over the best", percent("over_best")), ("misses a limit", chance("miss")), ("known by", as_is("provenance")),
]
_RANKED: Shown = [
    ("workload", as_is("workload")), ("pricing", as_is("pricing")), ("by", as_is("sorted_by")), ("rank", as_is("rank")), _CLUSTER,
    ("workers", as_is("workers")), ("batch", as_is("batch")), ("other", as_is("other")),
    ("time, h (90 %)", between("time_h", "time_p5_h", "time_p95_h")), ("cost, USD (90 %)", between("cost_usd", "cost_p5_usd", "cost_p95_usd")),
    ("misses a limit", chance("miss")), ("best for", as_is("best_for")), ("known by", as_is("provenance")),
]
_COMPARED: Shown = [
    ("by", as_is("objective")), ("job run", lambda row: f"{row.repeats} ×"), ("strategy", as_is("strategy")),
    ("mean rank (95 %)", between("rank", "rank_low", "rank_high")), ("net overhead, mean", percent("net_mean", 1)),
    ("median", percent("net_median", 1)), ("p", as_is("p")), ("loses to", as_is("losses")), ("failed", percent("failed_share", 1)),
]


def in_order(rows: Sequence[Mapping[str, Any]]) -> List[Dict[str, Any]]:
    """Rows with their columns in the order of readers."""
    return [{name: row[name] for name in ordered(row, _ORDER)} for row in rows]


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table(in_order(rows))


class Advice(Mapping[str, Any]):
    """Which configuration to take, and what to measure next.

    As a mapping it has all of `scavsim advise --format json`: `advice["limits"]`.

    Example:
        >>> advice.best.vm, advice.best.cost_usd                # doctest: +SKIP
        ('g6e.xlarge', 1.36)
        >>> advice.table.to_pandas()                            # doctest: +SKIP
    """

    def __init__(self, told: Mapping[str, Any]) -> None:
        self._told = dict(told)

    @property
    def best(self) -> Optional[Row]:
        """The configuration to take, with `time_h` and `cost_usd` and their 90 % intervals; None where none keeps to the limits."""
        return next((row for row in self.table if row.get("keeps", True)), None)

    @property
    def nearest(self) -> Optional[Row]:
        """Where none keeps to the limits, the one that is likeliest to."""
        nearest = self._told.get("nearest")
        return Row(nearest) if nearest else None

    @property
    def table(self) -> Table:
        """The configurations that keep to the limits, the best first; with a deadline each under a policy."""
        in_time = self._told.get("deadline")
        return _table(in_time["plans"] if in_time else self._told["choices"])

    @property
    def rule(self) -> List[str]:
        """With a deadline, what to do when, in sentences; else nothing."""
        in_time = self._told.get("deadline")
        return list(in_time["rule"]["words"]) if in_time else []

    @property
    def front(self) -> Table:
        """Of these, those that no other beats in both time and cost."""
        return Table([row for row in self.table if row.get("on_front")], self.table.columns)

    @property
    def next(self) -> Optional[Row]:
        """The measurement to make next, with its price and what it gains; None where none is worth its price."""
        first = self.measurements[0] if len(self.measurements) else None
        gains = first is not None and (first["net"] if "net" in first else first.get("gain", 0.0)) > 0.0
        return first if gains else None

    @property
    def measurements(self) -> Table:
        """What could be measured next, what gains most first."""
        return _table(self._told["measurements"])

    def to_dict(self) -> Dict[str, Any]:
        """All of it, as `scavsim advise --format json` prints it."""
        return dict(self._told)

    def __getitem__(self, name: str) -> Any:
        return self._told[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._told)

    def __len__(self) -> int:
        return len(self._told)

    def __str__(self) -> str:
        best, nearest = self.best, self.nearest
        lines = []
        if best is not None:
            lines.append(f"Take {_named(best)}: {_figures(best)}.")
            if best.get("provenance") not in (None, "measured"):
                lines.append(f"It was not measured itself: {best['provenance']}.")
            lines.extend(self.rule)
        else:
            lines.append("Nothing keeps to the limits.")
            if nearest is not None:
                lines.append(f"Nearest: {_named(nearest)}: {_figures(nearest)}.")
        return "\n".join([*lines, self._measure_next()])

    def _measure_next(self) -> str:
        following = self.next
        if following is None:
            return "Measure next: nothing of what was considered is worth its price."
        hours, usd = following.get("price_h"), following.get("price_usd", following.get("usd"))
        minutes = following.get("minutes", None if hours is None else 60.0 * hours)
        price = ", ".join(word for word in (f"{minutes:.0f} min" if minutes else "", f"${usd:.2f}" if usd else "") if word)
        return f"Measure next: {_named(following)}" + (f" ({price})." if price else ".")

    def __repr__(self) -> str:
        first = "nothing keeps to the limits" if self.best is None else f"{_named(self.best)}, {_figures(self.best, short=True)}"
        return f"<scavsim.Advice: {first}; {len(self.table)} choices>"

    def _repr_html_(self) -> str:
        """The answer, then the table behind it, in notebooks."""
        first, *rest = str(self).splitlines()
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in rest)
        return f'<p style="font-size:1.2em"><b>{html.escape(first)}</b></p>{lines}{for_people(self.table, _CHOICES)}'


class Ranking(Table):
    """What every configuration of a scenario takes in hours and costs in USD, the best first; a `Table` of all.

    Example:
        >>> import scavsim
        >>> ranked = scavsim.rank({"workloads": ["scavenger-resnet18"]}, objective="cost", runs=20)
        >>> len(ranked), ranked.best.sorted_by, ranked.best.rank
        (16, 'cost', 1)
    """

    @property
    def best(self) -> Row:
        """The first of all; where there are several jobs, objectives or prices, of the first of them: `.bests` has each.

        Raises:
            LookupError: no configuration could be ranked.
        """
        if not len(self):
            raise LookupError("nothing could be ranked")
        return self[0]

    @property
    def bests(self) -> Table:
        """The first of each job, pricing policy, setting and objective."""
        return Table([row for row in self if row.rank == 1], self.columns)

    @property
    def table(self) -> Table:
        """All configurations; the ranking itself."""
        return self

    def _repr_html_(self) -> str:
        """The first configurations, in notebooks."""
        return for_people(self, _RANKED)


class Comparison:
    """Strategies beside each other: how well each does, how sure that is, and where it loses. Those that know the truth, as `oracle`, are not
    compared.

    Example:
        >>> import scavsim
        >>> job = {"workloads": ["scavenger-resnet18"], "replicas": 20, "search": {"objectives": ["cost"]}}
        >>> compared = scavsim.compare(job, search__strategies=["cherrypick", "random"])
        >>> compared.best.strategy, [row.strategy for row in compared.table]
        ('random', ['cherrypick', 'random'])
    """

    def __init__(self, told: Mapping[str, Any]) -> None:
        self._told = dict(told)

    @property
    def table(self) -> Table:
        """A row per objective, number of runs and strategy: means, ranks with their intervals, ratios to the reference."""
        return _table(self._told["strategies"])

    @property
    def best(self) -> Row:
        """The strategy with the best mean rank by the first objective and number of runs; `.bests` has each.

        Raises:
            LookupError: nothing was compared.
        """
        for row in self.bests:
            return row
        raise LookupError("nothing was compared")

    @property
    def bests(self) -> Table:
        """The strategy with the best mean rank in each block."""
        blocks: Dict[Any, List[Row]] = {}
        for row in self.table:
            blocks.setdefault((row.objective, row.repeats), []).append(row)
        firsts: List[Row] = [min(rows, key=lambda row: float(row["rank"])) for rows in blocks.values()]
        return Table(firsts, self.table.columns)

    @property
    def units(self) -> Table:
        """A row per strategy and place where strategies competed."""
        return _table(self._told["units"])

    @property
    def curves(self) -> Table:
        """Median regret of each strategy over what it had spent."""
        return _table(self._told["curves"])

    @property
    def told(self) -> Table:
        """What each strategy is told before it searches."""
        return _table(self._told["told"])

    @property
    def replicas(self) -> int:
        """Replicas of each case."""
        return int(self._told["replicas"])

    def to_dict(self) -> Dict[str, Any]:
        """All of it, as `scavsim compare --format json` prints it."""
        return dict(self._told)

    def __repr__(self) -> str:
        strategies = len({row.strategy for row in self.table})
        places = len({(row.scenario, row.workload, row.pricing, row.part) for row in self.units})
        return f"<scavsim.Comparison: {strategies} strategies in {places} places, {self.replicas} replicas; best: {self.best.strategy}>"

    def _repr_html_(self) -> str:
        first = "".join(
            f"<p><b>{html.escape(row.strategy)}</b> ranks first by {html.escape(row.objective)}, job run {row.repeats} ×</p>" for row in self.bests
        )
        return first + for_people(self.table, _COMPARED)


def _named(row: Mapping[str, Any]) -> str:
    """A configuration in words: workers × global batch on its VMs."""
    workers, batch, vms, vm = (row.get(name) for name in ("workers", "batch", "vms", "vm"))
    what = f"{workers} × {batch} on " if workers is not None else ""
    plan = f", plan {row['plan']}" if row.get("plan") else ""
    market = " spot" if row.get("market") == "spot" else ""
    return f"{what}{vms} {vm}{market}{plan}"


def _figures(row: Mapping[str, Any], short: bool = False) -> str:
    hours, usd = f"{row['time_h']:.2f} h", f"${row['cost_usd']:.2f}"
    if short:
        return f"{hours}, {usd}"
    low, high, cheap, dear = (row.get(name) for name in ("time_p5_h", "time_p95_h", "cost_p5_usd", "cost_p95_usd"))
    if None in (low, high, cheap, dear):
        return f"{hours}, {usd}"
    return f"{hours}, {usd} (90 %: {low:.2f}–{high:.2f} h, ${cheap:.2f}–{dear:.2f})"
