"""`scavsim.run` against the program on the same cases: `python benches/run.py [REPLICAS]`, of 10 cases each.

The program is that of the package, so that both are the same build. It keeps no records; `scavsim.run` has them all in memory.
"""

import resource
import subprocess
import sys
import tempfile

SCENARIO = (
    'name = "many"\nworkloads = ["scavenger-resnet18"]\nfidelity = "fast"\nvariation.step_cv = 0.1\n'
    'search.strategies = ["oracle", "full", "partial", "random", "default"]\nsearch.objectives = ["time", "cost"]\n'
)
IN_PROCESS = """
import resource, sys, scavsim
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = scavsim.run(sys.argv[1], progress=False)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(result.cases, result.nbytes, (peak - before) * 1024)
"""


def cpu_s(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, told


def main(replicas):
    text = SCENARIO + f"replicas = {replicas}\n"
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(text)
        file.flush()
        program_s, _ = cpu_s([sys.executable, "-m", "scavsim", "run", file.name, "--quiet"])
    own_s, told = cpu_s([sys.executable, "-c", IN_PROCESS, text])
    cases, size, grown = map(int, told.split())
    print(f"{cases} cases")
    print(f"the program   {program_s:7.1f} s of CPU")
    print(f"scavsim.run   {own_s:7.1f} s of CPU  {100 * (own_s / program_s - 1):+.1f} %")
    print(f"records       {size / 1e6:7.1f} MB; memory grew by {grown / 1e6:.1f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 100_000)
