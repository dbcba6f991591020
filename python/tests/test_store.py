"""Shards in an object store: whole or not at all, whatever the store does. fsspec's local files stand in for one, and moto for S3;
what is not installed is skipped. With Ray and the program (SCAVSIM names it), whole runs: the bytes of one machine."""

import importlib.util
import logging
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from unittest import mock

from scavsim import _store
from scavsim._program import ProgramError

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("SCAVSIM") or shutil.which("scavsim")
SCENARIO = 'name = "some"\nworkloads = ["scavenger-resnet18"]\nreplicas = 80\nvariation.step_cv = 0.1\nfidelity = "event"\nsearch.strategies = ["oracle", "random"]\n'
SHARDS = 6
ENDINGS = ("csv", "sums", "json")


def all_of(shard):
    return [f"{shard}.{ending}" for ending in ENDINGS]


def has(*modules):
    return all(importlib.util.find_spec(module) for module in modules)


if has("fsspec"):
    import fsspec
    from fsspec.implementations.local import LocalFileSystem

    class Breaks(LocalFileSystem):
        """Half of a manifest arrives, and nobody is left to remove it, as where a worker is killed."""

        protocol = "breaks"

        def put_file(self, file, to, **_):
            is_manifest = file.endswith(".json")
            with open(file, "rb") as read, open(self._strip_protocol(to), "wb") as written:
                written.write(read.read()[: os.path.getsize(file) // (2 if is_manifest else 1)])
            if is_manifest:
                raise ConnectionError("the line was cut")

        def rm_file(self, path):
            raise ConnectionError("the line is cut")

    class Refuses(LocalFileSystem):
        """Reads, and does not write."""

        protocol = "refuses"

        def makedirs(self, *_, **__):
            pass

        def pipe_file(self, path, *_, **__):
            raise PermissionError(f"AccessDenied: {path}")

        put_file = pipe_file

    for own in (Breaks, Refuses):
        fsspec.register_implementation(own.protocol, own, clobber=True)


class Disk:
    """What `Store` asks of fsspec, on a disk, and all that it was asked; lists names from a cache, as object stores do."""

    def __init__(self):
        self.asked, self.listed, self.breaks = [], {}, None

    def makedirs(self, path, exist_ok):
        os.makedirs(path, exist_ok=exist_ok)

    def put_file(self, file, to):
        self.asked.append(("put", os.path.basename(to)))
        shutil.copy(file, to)
        if self.breaks and self.breaks in to:
            raise ConnectionError("the line was cut")

    def mv(self, file, to):
        self.asked.append(("mv", os.path.basename(to)))
        os.replace(file, to)

    def rm_file(self, path):
        os.remove(path)

    def exists(self, path):
        return os.path.exists(path)

    def ls(self, path, detail):
        if path not in self.listed:
            self.listed[path] = [f"{path}/{name}" for name in os.listdir(path)]
        return self.listed[path]

    def invalidate_cache(self):
        self.listed.clear()


class OnDisk(unittest.TestCase):
    """Without fsspec."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.store = _store.Store.__new__(_store.Store)
        self.store.url = self.store._root = str(self.folder / "out")
        self.store._fs, self.store._at_once = Disk(), False
        self.made = self.folder / "made"
        (self.made / "shards").mkdir(parents=True)
        for ending in ENDINGS:
            (self.made / "shards" / f"0001-of-0002.{ending}").write_text("some words\n")

    def test_the_manifest_comes_last(self):
        for name in ("manifest.json", "records.csv", "a.csv", "summary.csv", "z.txt"):
            (self.made / name).write_text("some")
        self.store.put_result(self.made)
        moved = [name for what, name in self.store._fs.asked if what == "mv"]
        self.assertEqual(moved, ["a.csv", "records.csv", "summary.csv", "z.txt", "manifest.json"])

    def test_what_did_not_arrive_is_not_left_aside(self):
        self.store._fs.breaks = ".sums"
        with self.assertRaisesRegex(ConnectionError, "cut"):
            self.store.put_shard(self.made, 1, 2)
        self.assertEqual(sorted(path.name for path in (self.folder / "out" / "shards").iterdir()), ["0001-of-0002.csv"])

    def test_what_others_wrote_since_is_seen(self):
        self.store.put_shard(self.made, 1, 2)
        self.assertEqual(there(self.store, 2), [1])
        for ending in ENDINGS:
            (self.folder / "out" / "shards" / f"0002-of-0002.{ending}").write_text("of another node")
        self.assertEqual(there(self.store, 2), [1, 2])


def there(store, count):
    return _store.there(store.names(), count)


class Urls(unittest.TestCase):
    def test_what_is_one(self):
        for url in ("s3://bucket/out", "file:///tmp/out", "gs://b", "simplecache::s3://b/out"):
            self.assertTrue(_store.is_url(url), url)
        for path in ("out", "/shared/out", "C:\\out", "C://out", pathlib.Path("s3:/out"), "a:b"):
            self.assertFalse(_store.is_url(path), path)

    def test_shards_that_are_there(self):
        names = [*all_of("0001-of-0003"), *all_of("0002-of-0003")[:2], "0003-of-0003.json", *all_of("0002-of-0002")]
        self.assertEqual(_store.there(names, 3), [1])
        self.assertEqual(_store.there(names, 2), [2])
        self.assertEqual(_store.counts([*names, "0001-of-0004.csv.aside-1", "notes.json"]), [2, 3])
        self.assertEqual(_store.there(all_of("0003-of-12345"), 12345), [3])

    @unittest.skipUnless(PROGRAM, "SCAVSIM names no program: what it writes was not looked at")
    def test_what_the_program_writes_is_what_leaves(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "some.toml").write_text(SCENARIO)
            words = [PROGRAM, "run", "some.toml", "--out", "out", "--shard", "2/6", "--quiet", "-s", "replicas=2"]
            subprocess.run(words, cwd=folder, check=True, capture_output=True)
            written = sorted(str(path.relative_to(f"{folder}/out")) for path in pathlib.Path(folder, "out", "shards").iterdir())
            self.assertEqual(written, sorted(_store.files(2, 6)))

    def test_a_refusal_keeps_its_code_between_processes(self):
        error = pickle.loads(pickle.dumps(ProgramError(2, "wrong")))
        self.assertEqual((error.code, str(error)), (2, "wrong"))

    def test_without_fsspec(self):
        with mock.patch.dict(sys.modules, {"fsspec": None}), self.assertRaisesRegex(ProgramError, "pip install"):
            _store.Store("s3://bucket/out")


@unittest.skipUnless(has("fsspec"), "fsspec is not installed: no store was written to")
class Stores(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.made = self.folder / "made"
        (self.made / "shards").mkdir(parents=True)
        for ending in ENDINGS:
            (self.made / "shards" / f"0002-of-0004.{ending}").write_text("some words\n")

    def kept(self):
        return sorted(path.name for path in (self.folder / "out").rglob("*") if path.is_file())

    def test_a_shard_goes_in_and_comes_out(self):
        store = _store.Store(f"file://{self.folder}/out/")
        store.try_out()
        self.assertEqual((self.kept(), there(store, 4)), ([], []))
        store.put_shard(self.made, 2, 4)
        self.assertEqual(self.kept(), sorted(all_of("0002-of-0004")))
        self.assertEqual(there(store, 4), [2])
        store.get_shard(self.folder / "back", 2, 4)
        self.assertEqual((self.folder / "back" / "shards" / "0002-of-0004.csv").read_text(), "some words\n")

    def test_half_of_a_file_counts_as_nothing(self):
        store = _store.Store(f"breaks://{self.folder}/out")
        with self.assertRaisesRegex(ConnectionError, "cut"):  # which Ray tries again
            store.put_shard(self.made, 2, 4)
        self.assertEqual(there(store, 4), [])
        self.assertEqual([name.split(".aside")[0] for name in self.kept()], sorted(all_of("0002-of-0004")))
        # Another try takes it in.
        again = _store.Store(f"file://{self.folder}/out")
        again.put_shard(self.made, 2, 4)
        self.assertEqual(there(again, 4), [2])

    def test_what_a_killed_worker_left_counts_as_nothing_and_goes(self):
        store = _store.Store(f"file://{self.folder}/out")
        store.put_shard(self.made, 2, 4)
        left = self.folder / "out" / "shards" / "0003-of-0004.csv.aside-1"
        left.write_text("some")
        self.assertEqual(there(store, 4), [2])
        result = self.folder / "result"
        result.mkdir()
        (result / "manifest.json").write_text("{}")
        (self.folder / "out" / "failures.csv").write_text("of an earlier run")
        store.put_result(result)
        self.assertEqual(self.kept(), sorted([*all_of("0002-of-0004"), "manifest.json"]))

    def test_refusals_have_their_reasons(self):
        for url, code, why in [
            (f"refuses://{self.folder}/out", 1, "PermissionError: AccessDenied"),
            ("nobody://out", 2, "nobody"),
            ("memory://out", 2, "no other sees"),
        ]:
            with self.assertRaisesRegex(ProgramError, why) as refused:
                _store.Store(url).try_out()
            self.assertEqual(refused.exception.code, code, url)
            self.assertTrue(str(refused.exception).startswith(url.split("/out")[0]), refused.exception)
        with self.assertRaisesRegex(_store.Refused, "AccessDenied"):
            _store.Store(f"refuses://{self.folder}/out").put_shard(self.made, 2, 4)
        with mock.patch.dict(sys.modules, {"gcsfs": None}), self.assertRaisesRegex(ProgramError, "gcsfs"):
            _store.Store("gs://bucket/out")

    @unittest.skipUnless(PROGRAM, "scavsim is not installed and SCAVSIM does not name it: no shard was run")
    def test_a_node_tells_of_a_refusal_and_the_rest_is_tried_again(self):
        from scavsim import ray as engine

        settings = engine.Settings(command=[PROGRAM])
        text = SCENARIO.replace("80", "1").encode()
        # A file that this node does not see is brought along.
        asked = (settings, str(self.folder / "not-there.toml"), text, 1, 2)
        self.assertEqual(engine._shard_into(f"file://{self.folder}/out", *asked), (0, ""))
        code, complaint = engine._shard_into(f"refuses://{self.folder}/other", *asked)
        self.assertEqual(code, engine._REFUSED)
        self.assertIn("AccessDenied", complaint)
        with self.assertRaises(ConnectionError):
            engine._shard_into(f"breaks://{self.folder}/other", *asked)
        self.assertEqual(there(_store.Store(f"file://{self.folder}/out"), 2), [1])


@unittest.skipUnless(has("fsspec", "ray"), "Ray or fsspec is not installed: nothing was run into a store")
@unittest.skipUnless(PROGRAM, "scavsim is not installed and SCAVSIM does not name it: nothing was run into a store")
class OnRay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        from ray.cluster_utils import Cluster

        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="scavsim-store-"))
        cls.file = cls.folder / "some.toml"
        cls.file.write_text(SCENARIO)
        command = [PROGRAM, "run", str(cls.file), "--out", str(cls.folder / "whole"), "--quiet"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        path = os.pathsep.join([PACKAGE, os.environ.get("PYTHONPATH", "")])
        cls.environment = {**os.environ, "PYTHONPATH": path, "FSSPEC_S3_KEY": "some", "FSSPEC_S3_SECRET": "some"}
        if has("moto", "s3fs", "flask"):
            from moto.server import ThreadedMotoServer

            logging.getLogger("werkzeug").setLevel(logging.ERROR)

            cls.moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
            cls.moto.start()
            cls.addClassCleanup(cls.moto.stop)
            cls.environment["FSSPEC_S3_ENDPOINT_URL"] = "http://{}:{}".format(*cls.moto.get_host_and_port())
        with mock.patch.dict(os.environ, cls.environment):  # as the nodes see it
            cls.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.addClassCleanup(cls.cluster.shutdown)

    def shell(self, out, *words, file=None):
        """`scavsim ray`, which can be killed."""
        command = [sys.executable, "-m", "scavsim", "ray", str(file or self.file), "--out", out, "--shards", str(SHARDS), "--program", PROGRAM]
        command += ["--address", self.cluster.address, *words]
        pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return subprocess.Popen(command, env=self.environment, cwd=self.folder, **pipes)

    def finish(self, driver, code=0):
        printed, told = driver.communicate(timeout=300)
        self.assertEqual(driver.returncode, code, told)
        return printed, told

    def same(self, read):
        for name in ("records.csv", "summary.csv", "manifest.json"):
            self.assertEqual(read(name), (self.folder / "whole" / name).read_bytes(), name)

    def test_the_driver_is_killed_and_the_same_command_goes_on(self):
        out = self.folder / "files"
        driver = self.shell(f"file://{out}", "--in-flight", "1")
        shards = lambda: sorted((out / "shards").glob("*.json")) if (out / "shards").is_dir() else []
        while len(shards()) < 2 and driver.poll() is None:
            time.sleep(0.02)
        driver.send_signal(signal.SIGKILL)
        driver.communicate()
        time.sleep(0.5)
        known = {path.name: path.stat().st_mtime_ns for path in shards()}
        self.assertLess(len(known), SHARDS, "the run was over before the driver could be killed")
        self.assertFalse((out / "manifest.json").exists())
        printed, told = self.finish(self.shell(f"file://{out}"))
        self.assertIn("oracle", printed)
        self.assertIn(f"{SHARDS} of {SHARDS} shards", told)
        self.same(lambda name: (out / name).read_bytes())
        now = {path.name: path.stat().st_mtime_ns for path in shards()}
        again = [name for name in known if now[name] != known[name]]
        # The one that was under way may be taken in twice, with the same bytes.
        self.assertLessEqual(len(again), 1, again)
        self.assertEqual(len(now), SHARDS)

    def test_another_scenario_is_refused(self):
        url = f"file://{self.folder}/taken"
        self.finish(self.shell(url, "--quiet", "-s", "replicas=1"))
        before = (self.folder / "taken" / "shards" / "0001-of-0006.json").read_bytes()
        for out in (url, str(self.folder / "taken")):
            _, told = self.finish(self.shell(out, "--quiet", "-s", "replicas=2"), code=2)
            self.assertEqual(told, f"error: {out} has shards of another run, which would be lost: name another place, or remove them\n")
            _, told = self.finish(self.shell(out, "--quiet", "--shards", "7", "-s", "replicas=1"), code=2)
            self.assertIn("a run in 6 shards, not 7", told)
        self.assertEqual((self.folder / "taken" / "shards" / "0001-of-0006.json").read_bytes(), before)

    @unittest.skipUnless(has("moto", "s3fs", "flask"), "moto and s3fs are not installed: nothing was run into S3")
    def test_s3(self):
        import s3fs

        own = {name: self.environment[f"FSSPEC_S3_{name.upper()}"] for name in ("key", "secret", "endpoint_url")}
        s3 = s3fs.S3FileSystem(**own, skip_instance_cache=True)
        _, told = self.finish(self.shell("s3://no-such/out"), code=1)
        self.assertIn("s3://no-such/out", told)
        self.assertIn("bucket", told.lower())
        s3.mkdir("bucket")
        printed, _ = self.finish(self.shell("s3://bucket/some/out", "--quiet"))
        self.assertEqual(printed, "")
        self.same(lambda name: s3.cat_file(f"bucket/some/out/{name}"))

        def times():
            s3.invalidate_cache()
            return {file["name"]: file["LastModified"] for file in s3.ls("bucket/some/out/shards", detail=True)}

        before = times()
        self.assertEqual(len(before), len(ENDINGS) * SHARDS)
        s3.rm(["bucket/some/out/shards/0003-of-0006.json", "bucket/some/out/records.csv"])
        time.sleep(1.1)  # S3 counts in seconds
        self.finish(self.shell("s3://bucket/some/out", "--quiet"))
        after = times()
        self.assertEqual({name for name in before if after[name] != before[name]},
                         {f"bucket/some/out/shards/0003-of-0006.{ending}" for ending in ENDINGS})
        self.same(lambda name: s3.cat_file(f"bucket/some/out/{name}"))

    def test_in_process_with_a_dict(self):
        code = textwrap.dedent(
            f"""
            import scavsim.ray
            seen = []
            scenario = {{"workloads": ["scavenger-resnet18"], "name": "some", "replicas": 3, "search": {{"strategies": ["oracle", "random"]}}}}
            out = scavsim.ray.run(scenario, "file://{self.folder}/dict", shards=2, address={self.cluster.address!r}, command=[{PROGRAM!r}],
                                  progress=lambda *told: seen.append(told), search__objectives=["time"])
            print(out, seen)
            """
        )
        done = subprocess.run([sys.executable, "-c", code], env=self.environment, capture_output=True, text=True)
        self.assertEqual(done.stdout.strip(), f"file://{self.folder}/dict [(1, 2), (2, 2)]", done.stderr)
        rows = (self.folder / "dict" / "records.csv").read_text().splitlines()
        self.assertEqual(len(rows), 1 + 3 * 2)


class Shell(unittest.TestCase):
    def ray(self, *words):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([PACKAGE, os.environ.get("PYTHONPATH", "")])}
        return subprocess.run([sys.executable, "-m", "scavsim", "ray", *words], env=environment, capture_output=True, text=True)

    def test_help_and_wrong_words(self):
        told = self.ray("--help")
        self.assertEqual(told.returncode, 0)
        for word in ("--out", "--address", "RAY_AUTH_MODE", "Exit codes"):
            self.assertIn(word, told.stdout)
        for words, why in [(["s.toml"], "--out"), (["s.toml", "--out", "o", "--shard", "3"], "--shard"), (["s.toml", "--out", "o", "--shards", "many"], "many")]:
            told = self.ray(*words)
            self.assertEqual(told.returncode, 2, words)
            self.assertIn(why, told.stderr)

    @unittest.skipUnless(has("ray"), "Ray is not installed: numbers of shards were not looked at")
    def test_mistakes(self):
        told = self.ray("s.toml", "--out", "o", "--shards", "0", "--cpus", "0")
        self.assertEqual((told.returncode, told.stderr), (2, "error: shards is 0, expected at least 1; cpus is 0.0, expected more than 0\n"))
        told = self.ray("s.toml", "--out", "o", "--program", "/not/there")
        self.assertEqual((told.returncode, told.stderr), (1, "error: /not/there: No such file or directory\n"))
        if PROGRAM:
            with tempfile.TemporaryDirectory() as folder:
                told = self.ray(f"{folder}/not-there.toml", "--out", f"{folder}/out", "--program", PROGRAM)
                self.assertEqual(told.returncode, 2, told.stderr)
                told = self.ray("no-such.toml", "--out", "nobody://out", "--program", PROGRAM)
                self.assertEqual(told.returncode, 2, told.stderr)
                self.assertIn("nobody", told.stderr)


if __name__ == "__main__":
    unittest.main()
