"""Scenarios as objects: their classes are those of the schema, and what they write is what is read. Needs no native part."""

import importlib.util
import json
import pathlib
import unittest

import scavsim.scenario
from scavsim import _scenario
from scavsim.scenario import Cluster, Pricing, Scenario, Search, Settings, Vm

ROOT = pathlib.Path(__file__).parents[2]
TOOL = ROOT / "python" / "tools" / "scenario_classes.py"


class Builder(unittest.TestCase):
    @unittest.skipUnless(TOOL.is_file(), "the sources are not here: the classes were not held against the schema")
    def test_classes_are_those_of_the_schema(self):
        spec = importlib.util.spec_from_file_location("scenario_classes", TOOL)
        tool = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tool)
        current = pathlib.Path(scavsim.scenario.__file__).read_text(encoding="utf-8")
        self.assertTrue(current == tool.written(), "the schema changed: run `python python/tools/scenario_classes.py`")

    @unittest.skipUnless((ROOT / "docs" / "scenario.schema.json").is_file(), "the schema is not here")
    def test_every_key_is_an_attribute(self):
        schema = json.loads((ROOT / "docs" / "scenario.schema.json").read_text(encoding="utf-8"))
        self.assertEqual(set(Scenario._known.values()), set(schema["properties"]))
        self.assertTrue(set(schema["properties"]) <= {name.rstrip("_") for name in dir(Scenario())})

    def test_is_written_as_a_dict_is(self):
        scenario = Scenario(workloads=["w"], cluster=Cluster(workers=[8, 16]), replicas=2)
        scenario.search.strategies = ["oracle"]
        scenario.strategy.cherrypick = {"least": 4}
        scenario.strategy.mine = {"command": ["mine"]}
        plain = {
            "workloads": ["w"], "cluster": {"workers": [8, 16]}, "replicas": 2, "search": {"strategies": ["oracle"]},
            "strategy": {"cherrypick": {"least": 4}, "mine": {"command": ["mine"]}},
        }
        self.assertEqual(scenario.to_dict(), plain)
        self.assertEqual(scenario.to_toml(), _scenario.read(plain)[0])
        self.assertEqual(_scenario.read(scenario), _scenario.read(plain))

    def test_what_was_only_looked_at_is_not_written(self):
        scenario = Scenario(workloads=["w"])
        self.assertIsNone(scenario.replicas)
        self.assertIsInstance(scenario.spot.to_dict(), dict)
        self.assertEqual(scenario.to_dict(), {"workloads": ["w"]})
        scenario.replicas = 3
        del scenario.replicas
        self.assertNotIn("replicas", scenario)

    def test_tables_by_names_of_ones_own(self):
        scenario = Scenario(vm={"fast": Vm(like="a", compute_scale=0.5)}, kind={"k": {"workers": [8]}})
        plain = {"vm": {"fast": {"like": "a", "compute_scale": 0.5}}, "kind": {"k": {"workers": [8]}}}
        self.assertEqual(scenario.to_dict(), plain)
        self.assertIs(type(scenario.to_dict()["vm"]["fast"]), dict)
        self.assertEqual(scenario.to_toml(), _scenario.read(plain)[0])

    def test_keys_with_a_dash_and_words_of_python(self):
        self.assertEqual(Settings(bo_step_time={"first": 4}).to_dict(), {"bo-step-time": {"first": 4}})
        self.assertEqual(Scenario(strategy={"bo-step-time": {"first": 4}}).to_dict(), {"strategy": {"bo-step-time": {"first": 4}}})

    def test_unknown_keys_are_told_with_the_nearest(self):
        with self.assertRaisesRegex(TypeError, "Scenario has no key `replica`; did you mean `replicas`?"):
            Scenario(replica=3)
        with self.assertRaisesRegex(TypeError, "Cluster has no key `worker`; did you mean `workers`?"):
            Scenario(cluster={"worker": [8]})
        scenario = Scenario()
        with self.assertRaisesRegex(AttributeError, "did you mean `strategies`?"):
            scenario.search.strategy = []
        with self.assertRaisesRegex(AttributeError, "did you mean `seed`?"):
            scenario.sead

    def test_copies_are_their_own(self):
        import copy
        import pickle

        scenario = Scenario(search=Search(strategies=["oracle"]), pricing=Pricing(policies=["paper-fixed"]))
        again = copy.deepcopy(scenario)
        again.search.strategies = ["random"]
        self.assertEqual(scenario.search.strategies, ["oracle"])
        self.assertEqual(pickle.loads(pickle.dumps(scenario)).to_dict(), scenario.to_dict())
        self.assertEqual(repr(Search(strategies=["oracle"])), "Search(strategies=['oracle'])")


if __name__ == "__main__":
    unittest.main()
