"""What a probe costs a strategy in Python, as a program and in this process: `SCAVSIM=PROGRAM python benches/strategies.py`.

Both make 1,000 probes of one step in each of 40 searches, on one thread; what the same search takes without a probe is taken off.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PACKAGE)
from scavsim.strategy import Strategy, serve  # noqa: E402

PROBES, SEARCHES = 1000, 40
SCENARIO = (
    f'workloads = ["scavenger-resnet18"]\nreplicas = {SEARCHES}\n'
    'search.strategies = ["mine"]\nsearch.objectives = ["time"]\n'
)


class Probes(Strategy):
    probes = PROBES

    def search(self, task, testbed):
        for _ in range(self.probes):
            testbed.probe(0, steps=1)
        return 0


class Chooses(Probes):
    probes = 0


def as_program(name, folder):
    program = os.environ.get("SCAVSIM") or shutil.which("scavsim")
    command = [sys.executable, os.path.abspath(__file__), name]
    path = os.path.join(folder, f"{name}.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SCENARIO + f"[strategy.mine]\ncommand = {command!r}\nprices = false\n")
    begun = time.perf_counter()
    subprocess.run([program, "run", path, "--jobs", "1", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def in_process(kind):
    import scavsim

    class Own(kind):
        prices = False

    begun = time.perf_counter()
    scavsim.run(SCENARIO, strategies={"mine": Own}, jobs=1, progress=False)
    return time.perf_counter() - begun


def tell(what, with_probes, without):
    each = (with_probes - without) / (PROBES * SEARCHES)
    print(f"{what:16}  {1e6 * each:6.1f} µs a probe  {1 / each:8.0f} a second")


if __name__ == "__main__":
    if sys.argv[1:]:
        serve({"Probes": Probes, "Chooses": Chooses}[sys.argv[1]])
    else:
        with tempfile.TemporaryDirectory() as folder:
            tell("a program", as_program("Probes", folder), as_program("Chooses", folder))
        if importlib.util.find_spec("scavsim._native"):
            tell("in this process", in_process(Probes), in_process(Chooses))
        else:
            print("the native part of scavsim is not built: strategies in this process were not measured")
