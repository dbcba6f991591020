"""Which cluster a training job is cheapest on, before and after a change, as a comment on a pull request: `comment.py JOB [JOB-BEFORE]`.

A job is a file of TOML with the path of its measurements, relative to the file, and the options of `scavsim.advise`:

    profile = "profile.csv"
    samples_per_epoch = 50_000
    max_time = 0.5
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import tomllib
import urllib.error
import urllib.request
from typing import Any, Dict, List, Optional

import scavsim

MARK = "<!-- scavsim cheapest-cluster: {job} -->"
MOST_COMMENTS = 1_000
SHOWN = 5


def advice_on(job: pathlib.Path) -> scavsim.Advice:
    """What scavsim says of a job."""
    keys = tomllib.loads(job.read_text(encoding="utf-8"))
    profile = keys.pop("profile", None)
    if profile is None and "model" not in keys:
        raise ValueError(f"{job}: a job has the `profile` of its measurements, or a `model` with `tokens`")
    return scavsim.advise(None if profile is None else job.parent / profile, **keys)


def body(name: str, now: scavsim.Advice, before: Optional[scavsim.Advice], why: str = "") -> str:
    """The comment."""
    lines = [MARK.format(job=name), f"### What to rent for `{name}`", ""]
    lines += [f"**{clean(line)}**" if at == 0 else clean(line) for at, line in enumerate(str(now).splitlines())]
    change = changed(now, before)
    lines += ["", change or why, "", "| cluster | time, h | cost, USD | 90 % of runs, USD | measured |", "|---|--:|--:|--:|---|"]
    for row in now.table[:SHOWN]:
        ends = f"{row.cost_p5_usd:.2f}–{row.cost_p95_usd:.2f}" if row.get("cost_p5_usd") is not None else ""
        lines.append(f"| {cluster(row)} | {row.time_h:.2f} | {row.cost_usd:.2f} | {ends} | {row.get('provenance') or ''} |")
    return "\n".join([*lines, "", "<sub>by `scavsim advise`</sub>", ""])


def changed(now: scavsim.Advice, before: Optional[scavsim.Advice]) -> str:
    """What the change does to the bill, in a sentence."""
    share = rise(now, before)
    if before is None or share is None:
        return ""
    own, other = now.best, before.best
    assert own is not None and other is not None
    same = "the same cluster" if cluster(own) == cluster(other) else f"{cluster(other)} before"
    return f"This change: ${own.cost_usd - other.cost_usd:+.2f} ({100 * share:+.1f} %), {own.time_h - other.time_h:+.2f} h; {same}.".replace("$-", "-$").replace("$+", "+$")


def rise(now: scavsim.Advice, before: Optional[scavsim.Advice]) -> Optional[float]:
    """By which share the job became dearer."""
    if before is None or now.best is None or before.best is None:
        return None
    return float(now.best.cost_usd / before.best.cost_usd - 1.0)


def cluster(row: Any) -> str:
    """A cluster in words."""
    spot = " spot" if row.get("market") == "spot" else ""
    batch = f", batch {row.batch}" if row.get("batch") is not None else ""
    return clean(f"{row.vms} × {row.vm}{spot}{batch}")


def clean(text: str) -> str:
    """A text in one line and without markup: names of machines come from whoever opened the pull request."""
    return " ".join(text.split()).replace("|", "/").replace("<", "‹").replace("`", "'")


class PullRequest:
    """The comments of a pull request."""

    def __init__(self, environment: Dict[str, str]) -> None:
        url = environment.get("GITHUB_API_URL", "https://api.github.com")
        self.repository = f"{url}/repos/{environment['GITHUB_REPOSITORY']}"
        self.number, self.token = int(environment["PULL_REQUEST"]), environment["GITHUB_TOKEN"]

    def put(self, mark: str, text: str) -> None:
        """Replaces the comment that begins with `mark`, or adds one."""
        for page in range(1, MOST_COMMENTS // 100 + 1):
            comments: List[Dict[str, Any]] = self.ask("GET", f"/issues/{self.number}/comments?per_page=100&page={page}")
            for comment in comments:
                if (comment.get("body") or "").startswith(mark):
                    self.ask("PATCH", f"/issues/comments/{comment['id']}", {"body": text})
                    return
            if len(comments) < 100:
                break
        self.ask("POST", f"/issues/{self.number}/comments", {"body": text})

    def ask(self, method: str, path: str, told: Optional[Dict[str, str]] = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        data = None if told is None else json.dumps(told).encode()
        request = urllib.request.Request(self.repository + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)


def main(words: List[str], environment: Dict[str, str]) -> int:
    job, before = words[0], pathlib.Path(words[1]) if len(words) > 1 else None
    old, why = None, "There was no such job before."
    if before is not None and before.is_file():
        try:
            old = advice_on(before)
        except (ValueError, TypeError, OSError, scavsim.ProgramError):
            why = "The job as it was before could not be read; nothing to compare with."
    try:
        now = advice_on(pathlib.Path(job))
    except (ValueError, TypeError, OSError) as error:
        print(f"::error file={job}::{str(error).splitlines()[0]}\n{error}")
        return 1
    text = body(job, now, old, why)
    print(text)
    write(environment.get("GITHUB_STEP_SUMMARY"), text)
    if now.best is not None:
        write(environment.get("GITHUB_OUTPUT"), f"cost-usd={now.best.cost_usd:.2f}\ntime-h={now.best.time_h:.2f}\ncluster={cluster(now.best)}\n")
    if environment.get("PULL_REQUEST"):
        try:
            PullRequest(environment).put(MARK.format(job=job), text)
        except (urllib.error.URLError, TimeoutError) as error:
            # A fork's token may not write; the summary of the job has it all.
            print(f"::warning::the comment was not written: {error}")
    most, share = environment.get("FAIL_ABOVE"), rise(now, old)
    if most and share is not None and 100.0 * share > float(most):
        print(f"::error file={job}::the job became {100.0 * share:.1f} % dearer, more than {most} %")
        return 1
    return 0


def write(path: Optional[str], text: str) -> None:
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], dict(os.environ)))
