"""A run on a Ray cluster: shards as tasks, on a disk that all nodes share or in an object store.

    import scavsim.ray

    scavsim.ray.run("scenarios/spot.toml", "/shared/out", shards=32)
    scavsim.ray.run("scenarios/spot.toml", "s3://bucket/out", shards=32)

From the shell: `scavsim ray scenarios/spot.toml --out /shared/out --shards 32`.

Ray's ports let anyone who reaches them run programs: keep them in a private network, and set `RAY_AUTH_MODE=token`, which Ray leaves
off. It does not encrypt.
"""

from __future__ import annotations

import logging
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Callable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _scenario, _store
from ._program import ProgramError

# Exit codes of a shard that is done; 3 means that cases of it have no result.
_DONE = (0, 3)
# Exit codes that another try does not change: what was asked is wrong.
_WRONG = (2, 64)
# In place of an exit code: the store does not take the shard, and will not.
_REFUSED = -1


def run(
    scenario: _scenario.Given,
    out: _store.Out,
    *,
    shards: Optional[int] = None,
    in_flight: Optional[int] = None,
    retries: int = 3,
    cpus: float = 1,
    address: Optional[str] = None,
    command: Sequence[str] = (),
    progress: Optional[Callable[[int, int], None]] = None,
    storage_options: Optional[Mapping[str, Any]] = None,
    programs: bool = False,
    **overrides: Any,
) -> Union[pathlib.Path, str]:
    """Runs a scenario in shards and merges them. The result is that of one machine, byte for byte.

    What is there already is not run again: after the driver died, the same call goes on.

    Args:
        scenario: a path that all nodes see; or a text or a dict, which is written to `OUT.toml`. With a store, a file that a node does
            not see is sent along; what it names by a relative path is not.
        out: the folder of the results, which all nodes see; or the URL of an object store that fsspec reads, as `s3://bucket/out`.
        shards: how many; four for each CPU of the cluster if absent. Each should take seconds or more.
        in_flight: most tasks at once; twice the CPUs if absent.
        retries: how often a shard is tried again after a lost worker or node, or a failure that is not the scenario's.
        cpus: CPUs of a shard.
        address: of the cluster; the one that Ray finds, or a local one, if absent.
        command: the program on the nodes; that of their Python package if absent.
        progress: called with shards done and all shards; a line on standard error if absent.
        storage_options: what fsspec tells the store; variables of the environment of each node do, too.
        programs: start the programs that a scenario names whose file is outside of the working folder.
        overrides: keys of the scenario; `cluster__workers=[8, 16]` is `cluster.workers`.

    Returns:
        The folder, or the URL.

    Raises:
        ProgramError: the scenario is wrong, a shard failed in every try, or the store refused; with its reason.
        ImportError: Ray is not installed.
        ValueError: a number that is not possible.
    """
    set_ = _scenario.set_words(overrides)
    settings = Settings(shards, in_flight, retries, cpus, address, list(command), progress or tell, set_, storage_options,
                        programs)
    return run_with(scenario, out, settings).out


@dataclass
class Settings:
    """The arguments of `run`."""

    shards: Optional[int] = None
    in_flight: Optional[int] = None
    retries: int = 3
    cpus: float = 1
    address: Optional[str] = None
    command: List[str] = field(default_factory=list)
    progress: Optional[Callable[[int, int], None]] = None
    set: List[str] = field(default_factory=list)
    storage_options: Optional[Mapping[str, Any]] = None
    programs: bool = False

    def __post_init__(self) -> None:
        least = [("shards", self.shards, 1), ("in_flight", self.in_flight, 1), ("retries", self.retries, 0)]
        wrong = [f"{name} is {n}, expected at least {low}" for name, n, low in least if n is not None and n < low]
        if not self.cpus > 0:
            wrong.append(f"cpus is {self.cpus}, expected more than 0")
        if wrong:
            raise ValueError("; ".join(wrong))

    @property
    def program(self) -> List[str]:
        """The program, on the node that asks."""
        return self.command or [sys.executable, "-m", "scavsim"]

    def sent(self) -> "Settings":
        """What a node needs of them; a function that shows progress may not leave the driver."""
        return replace(self, progress=None)


@dataclass
class Merged:
    """What `scavsim merge` made of the shards: where it is, its exit code, and the summary that it printed."""

    out: Union[pathlib.Path, str]
    code: int
    summary: str


def run_with(scenario: _scenario.Given, out: _store.Out, settings: Settings) -> Merged:
    """The same as `run`, with more of what it comes to."""
    ray = _ray()
    # The nodes have other working folders than the one who asks.
    settings = replace(settings, programs=settings.programs or _is_own(scenario))
    with tempfile.TemporaryDirectory(prefix="scavsim-") as folder:
        aside = pathlib.Path(folder)
        shards: Union[_Shared, _Stored]
        if _store.is_url(out):
            shards = _Stored(scenario, str(out), aside, settings)
        else:
            shards = _Shared(scenario, pathlib.Path(out).absolute(), settings)
        _program(settings.program + ["check", shards.file, *settings.set])
        shards.try_out()
        names = shards.names()
        # A run that goes on has as many shards as it had, whatever the cluster has become.
        begun = _store.counts(names)
        count = settings.shards or (begun[0] if begun else None)
        if other := [str(n) for n in begun if n != count]:
            raise ProgramError(2, f"{out} has a run in {' and '.join(other)} shards, not {count}: go on with as many, or name another place")
        there = _store.there(names, count) if count else []
        if count and there:
            shards.get(aside / "known", there[0], count)
            _recognise(settings, shards.file, aside / "known", there[0], count, str(out))
        if not ray.is_initialized():
            _connect(ray, settings.address)
        available = ray.cluster_resources().get("CPU", 1.0)
        count = count or max(1, int(4 * available))
        most = settings.in_flight or max(1, int(2 * available / settings.cpus))
        for done, _ in enumerate(_finished(ray, shards, there, count, most), start=len(there) + 1):
            if settings.progress:
                settings.progress(done, count)
        return shards.merge(count)


@dataclass
class _Shared:
    """Shards in a folder that all nodes see."""

    scenario: _scenario.Given
    out: pathlib.Path
    settings: Settings

    def __post_init__(self) -> None:
        self.file = _on_disk(self.scenario, self.out)

    def try_out(self) -> None:
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ProgramError(1, f"{self.out}: {error.strerror}") from error

    def names(self) -> List[str]:
        """The files in the folder of shards; whether they are sound is seen by `merge`."""
        folder = self.out / _store.SHARDS
        return os.listdir(folder) if folder.is_dir() else []

    def get(self, folder: pathlib.Path, number: int, count: int) -> None:
        (folder / _store.SHARDS).mkdir(parents=True)
        for name in _store.files(number, count):
            shutil.copyfile(self.out / name, folder / name)

    def task(self, number: int, count: int) -> Callable[[], Tuple[int, str]]:
        return partial(_shard, self.settings.sent(), self.file, number, count, self.out)

    def merge(self, _: int) -> Merged:
        code, summary = _program(self.settings.program + ["merge", str(self.out)], fine=_DONE)
        return Merged(self.out, code, summary)


class _Stored:
    """Shards in an object store. Each is run into a folder of its node and taken in when it is whole; they are merged in one of the
    driver."""

    def __init__(self, scenario: _scenario.Given, url: str, aside: pathlib.Path, settings: Settings) -> None:
        self.store = _store.Store(url, settings.storage_options)
        self.settings = settings
        self.aside = aside
        text, _ = _scenario.read(scenario)
        if isinstance(text, str):
            file = aside / f"{self.store.name}.toml"
            file.write_text(text, encoding="utf-8")
        else:
            file = text.absolute()
        self.file = str(file)

    def try_out(self) -> None:
        self.store.try_out()

    def names(self) -> List[str]:
        return self.store.names()

    def get(self, folder: pathlib.Path, number: int, count: int) -> None:
        self.store.get_shard(folder, number, count)

    def task(self, number: int, count: int) -> Callable[[], Tuple[int, str]]:
        text = pathlib.Path(self.file).read_bytes()
        return partial(_shard_into, self.store.url, self.settings.sent(), self.file, text, number, count)

    def merge(self, count: int) -> Merged:
        folder = self.aside / "merged"
        for number in range(1, count + 1):
            self.get(folder, number, count)
        try:
            code, summary = _program(self.settings.program + ["merge", str(folder)], fine=_DONE)
        except ProgramError as error:
            raise ProgramError(error.code, str(error).replace(str(folder), self.store.url)) from None
        self.store.put_result(folder)
        return Merged(self.store.url, code, summary)


def _finished(ray: Any, shards: Union[_Shared, _Stored], there: Sequence[int], count: int, most: int) -> Iterator[None]:
    """Runs those shards that are not there, so many at once; says when one is done."""
    settings = shards.settings
    remote = ray.remote(num_cpus=settings.cpus, max_retries=settings.retries, retry_exceptions=True)(_call)
    known = set(there)
    waiting = [number for number in range(count, 0, -1) if number not in known]
    running: List[Any] = []
    try:
        while waiting or running:
            while waiting and len(running) < most:
                running.append(remote.remote(shards.task(waiting.pop(), count)))
            ready, running = ray.wait(running)
            for task in ready:
                try:
                    code, complaint = ray.get(task)
                except ray.exceptions.RayError as error:
                    raise ProgramError(1, str(getattr(error, "cause", None) or error)) from error
                if code == _REFUSED:
                    raise ProgramError(1, complaint)
                if code in _WRONG:
                    raise ProgramError(code, complaint)
                yield
    except BaseException:
        for task in running:
            ray.cancel(task, force=True)
        raise


def _recognise(settings: Settings, file: str, folder: pathlib.Path, number: int, count: int, out: str) -> None:
    """Has the program look whether a shard that is there is of this run: it leaves it as it is, or makes it anew."""
    manifest = folder / _store.files(number, count)[-1]
    before = manifest.read_bytes()
    _program(_words(settings, file, number, count, folder), fine=_DONE)
    if manifest.read_bytes() != before:
        raise ProgramError(2, f"{out} has shards of another run, which would be lost: name another place, or remove them")


def _call(work: Callable[[], Tuple[int, str]]) -> Tuple[int, str]:
    return work()


def _words(settings: Settings, file: str, number: int, count: int, out: pathlib.Path) -> List[str]:
    jobs = str(max(1, int(settings.cpus)))
    words = ["run", file, *settings.set, "--shard", f"{number}/{count}", "--out", str(out), "--yes"]
    return [*settings.program, *words, "--keep-going", "--quiet", "--jobs", jobs, *(["--programs"] if settings.programs else [])]


def _shard(settings: Settings, file: str, number: int, count: int, out: pathlib.Path) -> Tuple[int, str]:
    """On a node: a shard into a folder; its exit code, and its complaint."""
    done = subprocess.run(_words(settings, file, number, count, out), capture_output=True, text=True)
    if done.returncode not in (*_DONE, *_WRONG):
        raise RuntimeError(f"shard {number} of {count} ended with {done.returncode}: {done.stderr.strip()}")
    return done.returncode, done.stderr


def _shard_into(url: str, settings: Settings, file: str, text: bytes, number: int, count: int) -> Tuple[int, str]:
    """On a node: a shard into a store."""
    with tempfile.TemporaryDirectory(prefix="scavsim-") as made:
        folder = pathlib.Path(made)
        code, complaint = _shard(settings, _brought(file, text, folder), number, count, folder)
        if code in _DONE:
            try:
                _store.Store(url, settings.storage_options).put_shard(folder, number, count)
            except (_store.Refused, ProgramError) as error:
                return _REFUSED, str(error)
        return code, complaint


def _brought(file: str, text: bytes, folder: pathlib.Path) -> str:
    """The scenario where this node sees it, else as it was sent."""
    path = pathlib.Path(file)
    try:
        if path.read_bytes() == text:
            return file
    except OSError:
        pass
    brought = folder / path.name
    brought.write_bytes(text)
    return str(brought)


def _is_own(scenario: _scenario.Given) -> bool:
    """Whether a scenario is not somebody else's: a text, a dict, or a file in the working folder."""
    text, _ = _scenario.read(scenario)
    return isinstance(text, str) or text.resolve().is_relative_to(pathlib.Path.cwd())


def _on_disk(scenario: _scenario.Given, out: pathlib.Path) -> str:
    text, _ = _scenario.read(scenario)
    if not isinstance(text, str):
        return str(text.absolute())
    file = out.with_name(out.name + ".toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return str(file)


def _program(command: List[str], fine: Sequence[int] = (0,)) -> Tuple[int, str]:
    """Runs the program here: its exit code, and what it printed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise ProgramError(1, f"{command[0]}: {error.strerror}") from error
    if done.returncode not in fine:
        raise ProgramError(done.returncode, done.stderr or done.stdout)
    return done.returncode, done.stdout


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise ImportError("Ray is not installed: pip install 'scavsim[ray]'") from error
    return ray


def _connect(ray: Any, address: Optional[str]) -> None:
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ProgramError(1, f"no Ray cluster{f' at {address}' if address else ''}: {error}") from error


def tell(finished: int, count: int) -> None:
    """Shows progress on standard error."""
    end = "\n" if finished == count else ""
    sys.stderr.write(f"\r{finished} of {count} shards{end}")
    sys.stderr.flush()
