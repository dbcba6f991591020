"""The GitHub Action that comments the cheapest cluster: its script with a stand-in for GitHub's API, in a repository of its own. Skipped
where the native part is not built, or there is no bash, git or tomllib."""

import http.server
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import scavsim

ROOT = pathlib.Path(__file__).parents[2]
ACTION = ROOT / ".github" / "actions" / "cheapest-cluster"
TOOLS = all(map(shutil.which, ("bash", "git", "tar"))) and sys.version_info >= (3, 11) and os.name != "nt"


class GitHub(http.server.BaseHTTPRequestHandler):
    """Comments of a pull request, and nothing else of GitHub."""

    comments, asked, refuses = [], [], False

    def do_GET(self):
        self.answer(200, self.comments)

    def do_POST(self):
        self.comments.append({"id": 70 + len(self.comments), **self.told()})
        self.answer(201, self.comments[-1])

    def do_PATCH(self):
        [comment] = [own for own in self.comments if self.path.endswith(f"/comments/{own['id']}")]
        comment.update(self.told())
        self.answer(200, comment)

    def told(self):
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, code, value):
        type(self).asked.append((self.command, self.path.split("?")[0], self.headers["Authorization"]))
        self.send_response(403 if self.refuses else code)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def log_message(self, *_):
        pass


@unittest.skipUnless(importlib.util.find_spec("scavsim._native"), "the native part of scavsim is not built: the action was not tried")
@unittest.skipUnless(ACTION.is_dir() and TOOLS, "bash, git, tar, Python 3.11 or the sources are missing: the action was not tried")
class Action(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        GitHub.comments, GitHub.asked, GitHub.refuses = [{"id": 1, "body": "a person's"}], [], False
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), GitHub)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_port}"
        self.repository = self.folder / "repository"
        (self.repository / "job").mkdir(parents=True)
        self.git("init", "--quiet")
        shutil.copy(ROOT / "scenarios" / "example-profile.csv", self.repository / "job" / "profile.csv")
        self.write("epochs = 10")
        self.base = self.commit()

    def git(self, *words):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
        return subprocess.run(["git", *identity, *words], cwd=self.repository, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", "a")
        return self.git("rev-parse", "HEAD")

    def write(self, line):
        (self.repository / "job" / "training.toml").write_text(f'profile = "profile.csv"\nsamples_per_epoch = 50_000\nruns = 20\n{line}\n')

    def run_action(self, **more):
        environment = {
            **os.environ, "JOB": "job/training.toml", "BASE_SHA": self.base, "PULL_REQUEST": "7", "GITHUB_TOKEN": "secret", "FAIL_ABOVE": "",
            "GITHUB_API_URL": self.url, "GITHUB_REPOSITORY": "an/owner", "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"), "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}", **more,
        }
        return subprocess.run(["bash", str(ACTION / "comment.sh")], cwd=self.repository, env=environment, capture_output=True, text=True)

    def test_a_dearer_job_is_commented_once(self):
        self.write("max_time = 0.5")
        done = self.run_action()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        [_, comment] = GitHub.comments
        self.assertIn("### What to rent for `job/training.toml`\n\n**Take ", comment["body"])
        self.assertIn("This change: ", comment["body"])
        self.assertEqual(GitHub.asked[-1], ("POST", "/repos/an/owner/issues/7/comments", "Bearer secret"))
        told = dict(line.split("=", 1) for line in (self.folder / "output").read_text().splitlines())
        self.assertIn(f"${told['cost-usd']}", comment["body"])
        self.assertEqual((self.folder / "summary").read_text(), comment["body"])
        # Again: the same comment.
        self.write("max_time = 0.6")
        self.assertEqual(self.run_action().returncode, 0)
        self.assertEqual(len(GitHub.comments), 2)
        self.assertEqual(GitHub.asked[-1][0], "PATCH")
        self.assertEqual(GitHub.comments[0]["body"], "a person's")

    def test_the_change_is_counted(self):
        (self.repository / "job" / "profile.csv").write_text("vm,workers,batch,step_s\ng5.xlarge,1,64,0.1\ng5.xlarge,1,128,0.18\ng5.xlarge,2,128,0.1\n")
        self.write("epochs = 10\nsetup_min = 0")
        self.base = self.commit()
        self.write("epochs = 20\nsetup_min = 0")
        done = self.run_action()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # Twice the epochs are twice the bill where nothing is set up.
        share = float(GitHub.comments[-1]["body"].split("This change: ")[1].split("(")[1].split(" %")[0])
        self.assertTrue(99 < share < 101, GitHub.comments[-1]["body"])
        self.assertIn("the same cluster", GitHub.comments[-1]["body"])
        failed = self.run_action(FAIL_ABOVE="50")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("::error file=job/training.toml::the job became", failed.stdout)

    def test_names_of_machines_are_no_markup(self):
        spec = importlib.util.spec_from_file_location("comment", ACTION / "comment.py")
        comment = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(comment)
        self.assertEqual(comment.cluster(scavsim.Row({"vms": 1, "vm": "a\nb=c|<img>`"})), "1 × a b=c/‹img>'")

    def test_a_new_job_a_wrong_one_and_a_token_that_may_not_write(self):
        self.assertIn("There was no such job before", self.run_action(BASE_SHA="").stdout)
        GitHub.refuses = True
        refused = self.run_action()
        self.assertEqual(refused.returncode, 0)
        self.assertIn("::warning::the comment was not written: HTTP Error 403", refused.stdout)
        self.write("max_tim = 3")
        wrong = self.run_action()
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("did you mean `max_time`?", wrong.stdout)


if __name__ == "__main__":
    unittest.main()
