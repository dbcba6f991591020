"""Scenarios as dicts, and keys as arguments, become TOML."""

import pathlib
import sys
import unittest

from scavsim import _scenario


class Toml(unittest.TestCase):
    def test_a_dict_has_a_line_per_value(self):
        scenario = {
            "workloads": ["a", "b"],
            "cluster": {"workers": range(1, 3), "pairs": [[8, 384]]},
            "spot": None,
            "pricing": {"define": {"my own": {"usd_per_hour": {"g5.xlarge": 1.5}}}},
            "limits": {},
        }
        text, places = _scenario.read(scenario)
        self.assertEqual(
            text.splitlines(),
            [
                'workloads = ["a", "b"]',
                "cluster.workers = [1, 2]",
                "cluster.pairs = [[8, 384]]",
                'pricing.define."my own".usd_per_hour."g5.xlarge" = 1.5',
                "limits = {  }",
            ],
        )
        self.assertEqual(places[1], "['cluster']['workers']")
        self.assertEqual(len(places), 5)

    def test_a_mistake_has_its_place_from_the_first_line_to_the_last(self):
        class Found(Exception):
            mistakes = [{"file": "scenario", "line": line} for line in (0, 1, 2, 3)] + [{"file": "set", "line": 1}]

        places = ["['a']", "['b']"]
        self.assertEqual([own.get("path") for own in _scenario.placed(Found, places).mistakes], [None, *places, None, None])

    def test_values(self):
        for own, toml in [(True, "true"), (3, "3"), (1e-9, "1e-09"), (float("inf"), "inf"), ('a"\n', '"a\\"\\n"'), ([], "[]"),
                          (pathlib.Path("w"), '"w"'), ({"from": 1, "to": 2}, "{ from = 1, to = 2 }")]:
            self.assertEqual(_scenario.value(own), toml)
        with self.assertRaisesRegex(TypeError, "cannot hold"):
            _scenario.value(object())
        with self.assertRaisesRegex(TypeError, "3 is no key"):
            _scenario.read({3: 4})

    @unittest.skipIf(sys.version_info < (3, 11), "tomllib came with Python 3.11: what is written was not read back")
    def test_what_is_written_reads_as_it_was(self):
        import tomllib

        scenario = {"a": {"b": [1, 2.5, "x\x7fé\\", True], "c d": {"e.f": {"g": "h"}}}, "list": [{"k": [1]}]}
        self.assertEqual(tomllib.loads(_scenario.read(scenario)[0]), scenario)

    def test_keys_as_arguments(self):
        self.assertEqual(_scenario.overrides({"cluster__workers": [8], "replicas": 2}), ["cluster.workers = [8]", "replicas = 2"])

    def test_paths_and_texts(self):
        self.assertEqual(_scenario.read("scenarios/spot.toml")[0], pathlib.Path("scenarios/spot.toml"))
        self.assertEqual(_scenario.read("replicas = 1")[0], "replicas = 1")


if __name__ == "__main__":
    unittest.main()
