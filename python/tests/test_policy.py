"""Policies in Python, without the native part: a class as a program that answers lines."""

import json
import os
import subprocess
import sys
import unittest

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

LIFE = {
    "protocol": 1, "tick_s": 600.0, "work_s": 36000.0, "deadline_s": 72000.0, "changeover_s": 600.0, "checkpoint_every_s": None,
    "lateness_usd_per_h": None, "probe_s": 60.0, "seed": 5, "settings": {"share": 0.5}, "of_tomorrow": 1,
    "zones": [{"name": name, "region": name[0], "on_demand_usd_per_h": 3.0, "of_tomorrow": 1} for name in ("a1", "a2", "b1")],
    "egress_usd": {a: {b: 0.0 if a[0] == b[0] else 2.0 for b in ("a1", "a2", "b1")} for a in ("a1", "a2", "b1")},
}


def desk(**other):
    return {
        "tick": 0, "elapsed_s": 0.0, "ticks_left": 120, "done_s": 0.0, "left_s": 36000.0, "saved_s": 0.0, "slack_s": 35400.0,
        "spent_usd": 0.0, "running": None, "start_up_left_s": 0.0, "checkpoint": None, "lost": None,
        "spot_usd_per_h": {"a1": 1.0, "a2": 0.5, "b1": 0.7}, "events": [], "of_tomorrow": 1, **other,
    }


def answers(policy, *lines):
    """What a program of a class with this `decide` answers to these lines, up to its end, and what it says beside that."""
    text = f"from scavsim.policy import Policy, serve\n\nclass Mine(Policy):\n{policy}\n\nserve(Mine)\n"
    told = "".join(json.dumps({"number": at + 1, **line}) + "\n" for at, line in enumerate(lines))
    done = subprocess.run([sys.executable, "-c", text], input=told, capture_output=True, text=True, cwd=PACKAGE, timeout=60)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    for at, answer in enumerate(said):
        assert answer.pop("number") == at + 1, said
    return said, done.stderr.strip().splitlines()


GREEDY = """
    def decide(self, desk):
        if desk.running is None:
            desk.try_spot(*sorted(desk.zones, key=desk.spot_usd_per_h.get))
"""


class Policies(unittest.TestCase):
    def test_a_refusal_is_heard_and_a_success_decides(self):
        order = ["a2", "b1", "a1"]
        held = {"zone": "a2", "market": "spot"}
        said, told = answers(
            GREEDY,
            {"life": LIFE, "desk": desk()}, {"desk": desk(refused=order)}, {"desk": desk(tick=1)}, {"desk": desk(tick=2, running=held)},
            {"over": True}, {"life": LIFE, "desk": desk()}, {"over": True},
        )
        spot, stay, ready = {"spot": order}, {"stay": True}, {"ready": True}
        self.assertEqual((said, told), ([spot, stay, spot, stay, ready, spot, ready], []))

    def test_all_that_can_be_done_is_said(self):
        policy = """
    def decide(self, desk):
        if desk.tick == 0:
            assert desk.probe("a1") and not desk.probe("b1")
            desk.until_event()
            desk.stop()
        elif desk.tick == 1:
            assert desk.egress_usd("b1") == 2.0 and desk.running.market == "spot", desk.running
            desk.until_ticks(4)
            assert not desk.try_spot("a1", form="big")
            desk.go_on_demand("b1", form="big")
        else:
            desk.give_up()
"""
        said, told = answers(
            policy,
            {"life": LIFE, "desk": desk()}, {"desk": desk(probed={"zone": "a1", "offered": True})},
            {"desk": desk(probed={"zone": "b1", "offered": False})},
            {"desk": desk(tick=1, checkpoint="a1", running={"zone": "a1", "market": "spot"})},
            {"desk": desk(tick=1, refused=["a1"])}, {"desk": desk(tick=5)},
        )
        self.assertEqual(told, [])
        self.assertEqual(said, [
            {"probe": "a1"}, {"probe": "b1"}, {"wait": True, "until": "event"}, {"spot": ["a1"], "as": "big", "until": 4},
            {"on_demand": "b1", "as": "big", "until": 4}, {"give_up": True},
        ])

    def test_each_life_has_a_new_object_and_its_own_draws(self):
        policy = """
    lives = 0

    def decide(self, desk):
        self.lives += 1
        assert self.lives == 1 and desk.life.settings == {"share": 0.5}
        print("no answer")
        desk.go_on_demand(desk.life.random.choice(desk.zones))
"""
        begin, over = {"life": LIFE, "desk": desk()}, {"over": True}
        said, _ = answers(policy, begin, over, begin, over, {**begin, "life": {**LIFE, "seed": 8}})
        self.assertEqual(said[0], said[2])
        self.assertNotEqual(said[0], said[4])

    def test_a_mistake_is_the_last_line_of_its_traceback(self):
        for policy, place, why in [
            ("    pass", "", "NotImplementedError: Mine has no decide(desk)"),
            ("    def decide(self, desk):\n        desk.try_spot('a1')\n        desk.stop()", '  File "<string>", line 6, in decide',
             "RuntimeError: this tick is decided: it has spot machines"),
            ("    def decide(self, desk):\n        return 1 / 0", '  File "<string>", line 5, in decide', "ZeroDivisionError: division by zero"),
        ]:
            _, told = answers(policy, {"life": LIFE, "desk": desk()}, {"desk": desk(tick=1)})
            self.assertEqual((told[-1], place in ["", *told]), (why, True), told)


if __name__ == "__main__":
    unittest.main()
