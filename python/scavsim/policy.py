"""A policy in Python, which decides during a run where a job goes on: `serve(Mine)` makes it a program, which a scenario names
in `[policy.mine]`.

    class Mine(Policy):
        def decide(self, desk):
            if desk.running is None:
                desk.try_spot(*desk.zones)

    serve(Mine)

It needs no native part.
"""

from __future__ import annotations

import copy
import json
import random
import sys
from dataclasses import dataclass, field, fields
from typing import Any, Callable, Dict, List, NamedTuple, NoReturn, Optional, Type, Union

__all__ = ["Desk", "Life", "Place", "Policy", "Zone", "serve"]


@dataclass(frozen=True)
class Zone:
    """A zone of the market."""

    name: str
    region: str
    """Zones of one region move checkpoints for nothing."""
    on_demand_usd_per_h: float
    """Of all machines of the job; of its first form here, where it has several."""
    on_demand_usd_per_h_as: Dict[str, float] = field(default_factory=dict)
    """Of each form that the zone has machines of."""


class Place(NamedTuple):
    """Machines that a job has."""

    zone: str
    market: str
    """`spot` or `on_demand`."""


@dataclass(frozen=True)
class Life:
    """What does not change while a job lives. `scavsim` says it once."""

    tick_s: float
    work_s: float
    """Seconds of work, without interruptions."""
    deadline_s: float
    """Seconds from the begin until it shall be done."""
    changeover_s: float
    """Seconds from a request of machines until they work."""
    checkpoint_every_s: Optional[float]
    """Seconds of work between checkpoints; None where nothing is lost with spot machines."""
    lateness_usd_per_h: Optional[float]
    """USD per hour after the deadline, if being late has a price."""
    probe_s: float
    """Seconds that a successful probe is billed for."""
    zones: Dict[str, Zone]
    """By their names, in the order of the scenario."""
    egress_usd: Dict[str, Dict[str, float]]
    """USD to carry the checkpoint from a zone to another."""
    settings: Dict[str, Any]
    """`settings` of its table in the scenario."""
    random: random.Random
    """Seeded: what is drawn from it is the same on any number of threads."""
    reconfigure_s: Optional[float] = None
    """Seconds without work until another form works on the same machines; None where that takes new ones."""
    forms: Dict[str, int] = field(default_factory=dict)
    """Machines of each form that the job can run in; none of a job that has no forms."""


class Desk:
    """A job on its way, as its policy sees it, and what can be done. It never shows what comes: whether a spot market has
    machines is learned by `try_spot`, or by a `probe` that is paid."""

    life: Life
    tick: int
    """Number of the tick that begins."""
    elapsed_s: float
    ticks_left: int
    """Whole ticks until the deadline."""
    done_s: float
    """Seconds of work that are done."""
    left_s: float
    """Seconds of work that are left."""
    saved_s: float
    """Seconds of work that are kept if its machines are lost."""
    slack_s: float
    """Seconds that may be waited away."""
    spent_usd: float
    running: Optional[Place]
    """Machines that it has."""
    start_up_left_s: float
    """Seconds until these work."""
    checkpoint: Optional[str]
    """Zone where it ran last."""
    lost: Optional[str]
    """Zone whose machines were lost as this tick began."""
    spot_usd_per_h: Dict[str, float]
    """Prices of all machines of the job in each zone's spot market, now, whether it has any or not."""
    form: Optional[str] = None
    """The form that it runs in, where it has several."""
    speed: Dict[str, float] = {}
    """Seconds of work per second in each form, now."""
    spot_usd_per_h_as: Dict[str, Dict[str, float]] = {}
    """By forms, what `spot_usd_per_h` is of the first form of each zone."""
    events: List[Dict[str, Any]]
    """What happened since the policy was asked last: `{"lost": zone}`, `{"works": zone}`, `{"checkpoint": saved_s}`,
    `{"price": zone}`, `{"deadline_near": True}`."""

    def __init__(self, life: Life, told: Dict[str, Any], ask: Callable[[Dict[str, Any]], Optional[Dict[str, Any]]]) -> None:
        self.life = life
        self._ask = ask
        self._is_decided = False
        self._answer: Dict[str, Any] = {"stay": True}
        self._until: Dict[str, Any] = {}
        for key in _OF_DESK & told.keys():
            setattr(self, key, told[key])
        self.running = Place(**told["running"]) if told["running"] else None

    @property
    def zones(self) -> List[str]:
        """Names of the zones."""
        return list(self.life.zones)

    def egress_usd(self, zone: str) -> float:
        """USD to carry the checkpoint from where it lies to a zone."""
        return 0.0 if self.checkpoint is None else self.life.egress_usd[self.checkpoint][zone]

    def try_spot(self, *zones: str, form: Optional[str] = None) -> bool:
        """Asks for spot machines in these zones, one after the other, and goes to the first that has some; whatever it had is
        given back, and the tick is decided. False if none has any: nothing has changed, and nothing is paid. `form` is one of
        `life.forms`, the first that a zone has machines of where nothing is said."""
        if not zones:
            return False
        return self._say({"spot": list(zones), **_as(form)}) is None

    def probe(self, zone: str) -> bool:
        """Whether a zone has spot machines: billed for `probe_s` where it has."""
        told = self._say({"probe": zone})
        return bool(told and told["probed"]["offered"])

    def go_on_demand(self, zone: str, form: Optional[str] = None) -> None:
        """Goes on demand in a zone, which is always possible, in a form that it has machines of."""
        self._decide({"on_demand": zone, **_as(form)})

    def stop(self) -> None:
        """Gives all machines back, and waits."""
        self._decide({"wait": True})

    def give_up(self) -> None:
        """Gives all machines back for good: the life ends."""
        self._decide({"give_up": True})

    def until_event(self) -> None:
        """Asks not to be asked again before something happens. To be said before the policy acts."""
        self._until = {"until": "event"}

    def until_ticks(self, ticks: int) -> None:
        """Asks not to be asked again for so many ticks, unless something happens. To be said before the policy acts."""
        self._until = {"until": ticks}

    def _decide(self, answer: Dict[str, Any]) -> None:
        if self._is_decided:
            raise RuntimeError("this tick is decided: it has spot machines")
        self._answer = answer

    def _say(self, question: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """Asks within the tick; None where that decided it."""
        if self._is_decided:
            raise RuntimeError("this tick is decided: it has spot machines")
        told = self._ask({**question, **self._until})
        self._is_decided = told is None
        return told

    def _end(self) -> Optional[Dict[str, Any]]:
        """What is still to be said when the policy has decided."""
        return None if self._is_decided else {**self._answer, **self._until}


def _as(form: Optional[str]) -> Dict[str, str]:
    return {} if form is None else {"as": form}


_OF_DESK = set(Desk.__annotations__) - {"life", "running"}
_OF_LIFE = {of.name for of in fields(Life)} - {"zones", "random"}
_OF_ZONE = {of.name for of in fields(Zone)}


class Policy:
    """A policy. Every life has a new object of it, so that none knows of another."""

    def decide(self, desk: Desk) -> None:
        """Decides, as a tick begins, by what it does with the desk; nothing done leaves all as it is."""
        raise NotImplementedError(f"{type(self).__name__} has no decide(desk)")


Maker = Union[Policy, Type[Policy], Callable[[], Policy]]


def serve(policy: Maker) -> NoReturn:
    """Decides as a program of its own, until there is no more to do. A mistake in the policy ends the program, and its last
    line becomes the reason of the failed life."""
    output = sys.stdout
    # What the policy prints is no answer.
    sys.stdout = sys.stderr
    hear, say = sys.stdin.readline, output.write
    number: Optional[int] = None
    told: Optional[Dict[str, Any]] = None

    def next_line() -> Dict[str, Any]:
        nonlocal number
        line = hear()
        if not line:
            sys.exit(0)
        heard: Dict[str, Any] = json.loads(line)
        number = heard.pop("number", None)
        return heard

    def answer(words: Dict[str, Any]) -> None:
        say(json.dumps(words if number is None else {"number": number, **words}, allow_nan=False) + "\n")
        output.flush()

    def ask(question: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        nonlocal told
        answer(question)
        heard = next_line()
        desk = heard.get("desk", {})
        if "refused" in desk or "probed" in desk:
            return desk  # type: ignore[no-any-return]
        told = heard
        return None

    life: Optional[Life] = None
    own: Optional[Policy] = None
    while True:
        heard, told = told or next_line(), None
        if "over" in heard:
            answer({"ready": True})
            continue
        if "life" in heard:
            life = _life(heard["life"])
            own = copy.deepcopy(policy) if isinstance(policy, Policy) else policy()
        if life is None or own is None:
            raise RuntimeError("a line before the first life")
        desk = Desk(life, heard["desk"], ask)
        own.decide(desk)
        last = desk._end()
        if last is not None:
            answer(last)


def _life(told: Dict[str, Any]) -> Life:
    # What a later version says besides is nothing to a policy of today.
    known = {key: told[key] for key in _OF_LIFE & told.keys()}
    zones = [Zone(**{key: zone[key] for key in _OF_ZONE & zone.keys()}) for zone in told["zones"]]
    return Life(**known, zones={zone.name: zone for zone in zones}, random=random.Random(told["seed"]))
