"""The program: `python -m scavsim`. `ray` is answered here, as the program itself knows no Ray; all else is the program's."""

import argparse
import sys
from typing import List, Optional

# Exit codes of the program.
_FAILED, _WRONG, _INTERRUPTED = 1, 2, 130

_RAY = """\
Runs a scenario in shards on a Ray cluster and merges them to the bytes of one machine. What is there already is not run again:
after the driver died, the same command goes on."""

_AFTER = """\
Exit codes:
  0    done
  1    the run failed: a shard in every try, the store, no cluster
  2    wrong scenario, data or usage; nothing was run
  3    done, but some cases have no result
  130  stopped by Ctrl-C; shards that were finished are kept

Examples:
  scavsim ray scenario.toml --out /shared/out --shards 32
  scavsim ray scenario.toml --out s3://bucket/out --address ray://head:10001

What a store is to be told stands in variables, as FSSPEC_S3_ENDPOINT_URL, on every node.
Ray's ports let anyone who reaches them run programs: keep them in a private network, and set RAY_AUTH_MODE=token."""


def main(arguments: Optional[List[str]] = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["ray"]:
        return ray(words[1:])
    from . import _native

    if words in (["--help"], ["-h"], ["help"]):
        # First, as the program does not come back from this.
        print("From Python also `scavsim ray`: run a scenario in shards on a Ray cluster\n", flush=True)
    return _native.main(["scavsim", *words])


def ray(words: List[str]) -> int:
    """`scavsim ray`: its exit code."""
    own = _parser().parse_args(words)
    from . import ray as engine
    from ._program import ProgramError

    try:
        settings = engine.Settings(
            shards=own.shards, in_flight=own.in_flight, retries=own.retries, cpus=own.cpus, address=own.address,
            command=[own.program] if own.program else [], set=[word for line in own.set for word in ("-s", line)],
            progress=None if own.quiet else engine.tell, programs=own.programs,
        )
        merged = engine.run_with(own.scenario, own.out, settings)
    except ProgramError as error:
        return _complain(error, error.code)
    except ValueError as error:
        return _complain(error, _WRONG)
    except (ImportError, OSError) as error:
        return _complain(error, _FAILED)
    except KeyboardInterrupt:
        print(f"stopped; the same command goes on: scavsim ray {own.scenario} --out {own.out}", file=sys.stderr)
        return _INTERRUPTED
    if not own.quiet:
        print(merged.summary, end="")
    return merged.code


def _complain(error: BaseException, code: int) -> int:
    text = str(error)
    print(text if text.startswith("error") else f"error: {text}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scavsim ray", description=_RAY, epilog=_AFTER, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("scenario", metavar="SCENARIO", help="scenario file that all nodes see; with a store it is sent to those that do not")
    add("--out", required=True, metavar="OUT", help="folder that all nodes see, or URL of an object store that fsspec reads")
    add("--shards", type=int, metavar="N", help="how many, each of seconds or more [four for each CPU of the cluster]")
    add("--in-flight", type=int, metavar="N", help="most shards at once [twice the CPUs]")
    add("--retries", type=int, default=3, metavar="N", help="tries again of a shard that was lost or failed [%(default)s]")
    add("--cpus", type=float, default=1, metavar="N", help="CPUs of a shard [%(default)s]")
    add("--address", metavar="ADDRESS", help="of the cluster [the one that Ray finds, else a local one]")
    add("-s", "--set", action="append", default=[], metavar="KEY=VALUE", help="replaces a key of the scenario; as often as needed")
    add("--program", metavar="PATH", help="the program on the nodes [that of their Python package]")
    add("--programs", action="store_true", help="starts the programs of a scenario from outside of this folder")
    add("-q", "--quiet", action="store_true", help="shows neither progress nor the summary")
    return parser


if __name__ == "__main__":
    sys.exit(main())
