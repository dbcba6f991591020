"""What a notebook shows of a result, from records and a summary that the program wrote: the native part is not needed. Skipped without
pandas, PyArrow or the program; SCAVSIM names it."""

import html
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

from scavsim._answers import Advice
from scavsim._figure import Dot, Panel, svg
from scavsim._result import Result

PROGRAM = os.environ.get("SCAVSIM") or shutil.which("scavsim")
SCENARIO = """
name = "a <b>"
workloads = ["scavenger-resnet18"]
replicas = 8
variation.step_cv = 0.1
search = { strategies = ["oracle", "random", "cherrypick"], objectives = ["time", "cost"] }
"""
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "</script><script>alert(1)</script>", "<svg/onload=alert(1)>", "<!--", "]]>",
    '" onmouseover="alert(1)', "' onfocus='alert(1)", "</text></svg></td><a href='javascript:alert(1)'>", "{{title}}<b>&lt;i&gt;",
]


def elements(page):
    """The tags of a page, each with the names of its attributes."""
    found, parser = [], HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append((tag, [name for name, _ in attributes]))
    parser.feed(page)
    return found


def words(picture):
    return [text.text for text in ET.fromstring(picture).iter(f"{SVG}text")]


class Figure(unittest.TestCase):
    def test_dots_stand_where_their_values_are(self):
        picture = svg([Panel("a & b", "axis", [Dot("zero", 0.0), Dot("ten", 10.0, 8.0, 12.0), Dot("five", 5.0), Dot("no", None)])])
        zero, ten, five = (float(dot.get("cx")) for dot in ET.fromstring(picture).iter(f"{SVG}circle"))
        self.assertAlmostEqual(five, (zero + ten) / 2, delta=0.1)
        self.assertGreater(ten, zero + 50)
        told = words(picture)
        for word in ("a & b", "+10.0 %", "none", "0 %", "5 %"):
            self.assertIn(word, told)

    def test_any_span_has_a_few_ticks(self):
        for top in (0.0, 1e-9, 0.03, 1.0, 7.0, 99.0, 1234.0, 1e9, -40.0):
            picture = svg([Panel("", "", [Dot("a", top, top - abs(top) / 10, top + abs(top) / 10)])])
            ticks = [told for told in words(picture) if told and told.endswith(" %")]
            self.assertTrue(3 <= len(ticks) <= 8, (top, ticks))
            for dot in ET.fromstring(picture).iter(f"{SVG}circle"):
                self.assertTrue(0 <= float(dot.get("cx")) <= 400, top)

    def test_nothing_is_no_picture(self):
        self.assertEqual(svg([]), "")


def group_of(strategy, net, setting="", right=(0.5, [0.3, 0.7]), objective="time"):
    """A group of a summary in JSON, as the program writes it."""
    metrics = {f"overhead_net_{objective}": {"mean": net[0], "interval95": net[1]}, "time_h": {"mean": 2.0, "interval95": None}}
    return {
        "workload": "w", "pricing": "p", "objective": objective, "strategy": strategy, "setting": setting, "replicas": 3, "failed": 1,
        "choice": {"vm": "v", "workers": 8, "batch": 64}, "shares": {"right": {"share": right[0], "interval95": right[1]}}, "metrics": metrics,
    }


def result_of(groups, name="a"):
    class Records:
        cases, failed, remarks, manifest = 3 * len(groups), 0, [], "{}"
        summary = json.dumps({"groups": groups})

    Records.name = name
    return Result(Records)


class Summary(unittest.TestCase):
    def test_rows_have_means_and_their_intervals(self):
        [row] = result_of([group_of("s", (0.2, [0.1, 0.4]))]).table
        told = (row.cases, row.failed, row.right, row.right_low, row.right_high, row.overhead_net_time, row.overhead_net_time_low)
        self.assertEqual(told, (3, 1, 0.5, 0.3, 0.7, 0.2, 0.1))
        self.assertEqual((row.time_h, row.time_h_low, row.regret_time, row.choice_workers), (2.0, None, None, 8))
        self.assertNotIn("setting", row)

    def test_the_figure_has_intervals(self):
        told = {}
        with unittest.mock.patch("scavsim._result.svg", lambda panels: told.update(panels=panels)):
            result_of([group_of("s", (0.2, [0.1, 0.4]))]).figure()
        [panel] = told["panels"]
        [dot] = panel.dots
        self.assertEqual((dot.name, dot.percent, dot.low, dot.high), ("s", 20.0, 10.0, 40.0))

    def test_the_best_is_the_least(self):
        result = result_of([group_of("a", (0.3, None)), group_of("b", (0.1, None)), group_of("c", (None, None))])
        self.assertEqual(result.best().strategy, "b")
        self.assertEqual(result.best(among=["a", "c"]).strategy, "a")
        with self.assertRaisesRegex(LookupError, "of c"):
            result.best(among=["c"])
        # Objectives are not mixed, though the other's figure is less.
        result = result_of([group_of("a", (0.3, None)), group_of("b", (0.1, None)), group_of("a", (-0.5, None), objective="cost")])
        self.assertEqual((result.best().strategy, result.best().objective), ("b", "time"))
        self.assertEqual(result.best(objective="cost").strategy, "a")
        with self.assertRaisesRegex(LookupError, "objective = 'knee'"):
            result.best(objective="knee")

    def test_settings_are_told_apart(self):
        result = result_of([group_of("s", (0.2, None), "cv=0"), group_of("s", (1.0, None), "cv=0.5")])
        self.assertEqual(result.table.column("setting"), ["cv=0", "cv=0.5"])
        told = words(result.figure())
        for word in ("+20.0 %", "+100.0 %"):
            self.assertIn(word, told)
        self.assertEqual(sum("cv=0.5" in (word or "") for word in told), 1)
        self.assertIn("cv=0.5", result._repr_html_())

    def test_names_make_no_element_attribute_or_script(self):
        def shown(name):
            result = result_of([group_of(name, (0.2, None), name)], name)
            result._records.remarks = [name]
            row = {"vm": name, "vms": 1, "time_h": 1.0, "cost_usd": 1.0, name: name}
            advice = Advice({"choices": [row], "measurements": [], "nearest": None})
            return "".join(own._repr_html_() for own in (result, advice, advice.table, advice.table[0]))

        for name in HOSTILE:
            self.assertEqual(elements(shown(name)), elements(shown("harmless")), name)
            self.assertIn(html.escape(name), shown(name))

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "Matplotlib is not installed: nothing was drawn")
    def test_matplotlib_draws_it(self):
        import matplotlib

        matplotlib.use("Agg")
        result = result_of([group_of("a", (0.3, [0.2, 0.5])), group_of("b", (0.1, None)), group_of("c", (None, None))])
        [axes] = result.plot()
        self.assertEqual([label.get_text() for label in axes.get_yticklabels()], ["a", "b", "c"])
        points = sorted(float(x) for line in axes.get_lines() for x in line.get_xdata() if line.get_marker() == "o")
        self.assertEqual([round(x, 9) for x in points], [10.0, 30.0])
        self.assertEqual(len(result.plot(axes=axes)), 1)
        with self.assertRaisesRegex(ValueError, "1 panels, found 0"):
            result.plot(axes=[])


@unittest.skipUnless(PROGRAM, "scavsim is not installed and SCAVSIM does not name it: no result was shown")
@unittest.skipUnless(importlib.util.find_spec("pandas") and importlib.util.find_spec("pyarrow"), "pandas with PyArrow is not installed: no result was shown")
class Notebook(unittest.TestCase):
    def test_a_table_and_a_figure(self):
        from pyarrow import csv

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "s.toml").write_text(SCENARIO)
            subprocess.run([PROGRAM, "run", "s.toml", "--out", "out", "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            table = csv.read_csv(path / "out" / "records.csv")
            told = subprocess.run([PROGRAM, "summary", "out", "--format", "json"], cwd=folder, check=True, capture_output=True, text=True).stdout

        class Records:
            name, cases, failed, remarks, summary = "a <b>", len(table), 0, ["mind <this>"], told
            __arrow_c_stream__ = table.__arrow_c_stream__
            __arrow_c_schema__ = table.schema.__arrow_c_schema__

        result = Result(Records)
        shown = result._repr_html_()
        self.assertIn("a &lt;b&gt;", shown)
        self.assertIn("mind &lt;this&gt;", shown)
        self.assertEqual((shown.count("<svg"), shown.count("<table")), (1, 1))
        told = words(result.figure())
        frame = result.to_pandas()
        for objective, strategies in frame.groupby("objective"):
            for strategy, of_it in strategies.groupby("strategy"):
                self.assertIn(f"{100 * of_it[f'overhead_net_{objective}'].mean():+.1f} %", told, (objective, strategy))
        self.assertEqual(told.count("cherrypick"), 2)
        kept = os.environ.get("SCAVSIM_KEEP")
        if kept:
            pathlib.Path(kept).write_text(shown)


if __name__ == "__main__":
    unittest.main()
