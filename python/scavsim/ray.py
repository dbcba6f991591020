"""A run on a Ray cluster: shards as tasks, on a disk that all nodes share.

    import scavsim.ray

    scavsim.ray.run("scenarios/spot.toml", "/shared/out", shards=32)

Ray's ports let anyone who reaches them run programs: keep them in a private network, and set `RAY_AUTH_MODE=token`, which Ray leaves
off. It does not encrypt.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

from . import _scenario
from ._program import ProgramError

Path = Union[str, "os.PathLike[str]"]

# Exit codes of a shard that is done; 3 means that cases of it have no result.
_DONE = (0, 3)
# Exit codes that another try does not change: what was asked is wrong.
_WRONG = (2, 64)


def run(
    scenario: _scenario.Scenario,
    out: Path,
    *,
    shards: Optional[int] = None,
    in_flight: Optional[int] = None,
    retries: int = 3,
    cpus: float = 1,
    address: Optional[str] = None,
    command: Sequence[str] = (),
    progress: Optional[Callable[[int, int], None]] = None,
) -> pathlib.Path:
    """Runs a scenario in shards and merges them. The result is that of one machine, byte for byte.

    What is there already is not run again: after the driver died, the same call goes on.

    Args:
        scenario: a path that all nodes see; or a text or a dict, which is written to `OUT.toml`.
        out: the folder of the results, which all nodes see.
        shards: how many; four for each CPU of the cluster if absent. Each should take seconds or more.
        in_flight: most tasks at once; twice the CPUs if absent.
        retries: how often a shard is tried again after a lost worker or node, or a failure that is not the scenario's.
        cpus: CPUs of a shard.
        address: of the cluster; the one that Ray finds, or a local one, if absent.
        command: the program on the nodes; that of their Python package if absent.
        progress: called with shards done and all shards; a line on standard error if absent.

    Returns:
        The folder.

    Raises:
        ProgramError: the scenario is wrong, or a shard failed in every try.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    out = pathlib.Path(out).absolute()
    program = list(command) or [sys.executable, "-m", "scavsim"]
    file = _on_disk(scenario, out)
    _program(program + ["check", file])
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False)
    available = ray.cluster_resources().get("CPU", 1.0)
    count = shards or max(1, int(4 * available))
    most = in_flight or max(1, int(2 * available / cpus))

    @ray.remote(num_cpus=cpus, max_retries=retries, retry_exceptions=True)
    def shard(number: int) -> Tuple[int, str]:
        jobs = str(max(1, int(cpus)))
        arguments = ["run", file, "--shard", f"{number}/{count}", "--out", str(out), "--keep-going", "--quiet", "--jobs", jobs]
        done = subprocess.run(program + arguments, capture_output=True, text=True)
        if done.returncode not in (*_DONE, *_WRONG):
            raise RuntimeError(f"shard {number} of {count} ended with {done.returncode}: {done.stderr.strip()}")
        return done.returncode, done.stderr

    told = progress or _tell
    waiting = [number for number in range(1, count + 1) if not _is_there(out, number, count)]
    finished, running = count - len(waiting), []  # type: Tuple[int, List[Any]]
    waiting.reverse()
    while waiting or running:
        while waiting and len(running) < most:
            running.append(shard.remote(waiting.pop()))
        ready, running = ray.wait(running)
        for task in ready:
            try:
                code, complaint = ray.get(task)
            except ray.exceptions.RayError as error:
                _cancel(ray, running)
                raise ProgramError(1, str(error)) from error
            if code in _WRONG:
                _cancel(ray, running)
                raise ProgramError(code, complaint)
            finished += 1
            told(finished, count)
    _program(program + ["merge", str(out), "--quiet"], fine=_DONE)
    return out


def _on_disk(scenario: _scenario.Scenario, out: pathlib.Path) -> str:
    text, _ = _scenario.read(scenario)
    if not isinstance(text, str):
        return str(text.absolute())
    file = out.with_name(out.name + ".toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return str(file)


def _is_there(out: pathlib.Path, number: int, count: int) -> bool:
    """Whether a shard is there; whether it is sound is seen by `merge`."""
    digits = max(4, len(str(count)))
    name = f"{number:0{digits}}-of-{count:0{digits}}"
    return all((out / "shards" / f"{name}.{ending}").is_file() for ending in ("csv", "json"))


def _program(command: List[str], fine: Sequence[int] = (0,)) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in fine:
        raise ProgramError(done.returncode, done.stderr or done.stdout)


def _cancel(ray: Any, running: List[Any]) -> None:
    for task in running:
        ray.cancel(task, force=True)


def _tell(finished: int, count: int) -> None:
    end = "\n" if finished == count else ""
    sys.stderr.write(f"\r{finished} of {count} shards{end}")
    sys.stderr.flush()
