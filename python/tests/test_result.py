"""What a notebook shows of a result, from records that the program wrote: the native part is not needed. Skipped without pandas,
PyArrow or the program; SCAVSIM names it."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as ET

from scavsim._figure import Dot, Panel, svg
from scavsim._result import _FIGURES, Result

PROGRAM = os.environ.get("SCAVSIM") or shutil.which("scavsim")
SCENARIO = """
name = "a <b>"
workloads = ["scavenger-resnet18"]
replicas = 8
variation.step_cv = 0.1
search = { strategies = ["oracle", "random", "cherrypick"], objectives = ["time", "cost"] }
"""
SVG = "{http://www.w3.org/2000/svg}"


def words(picture):
    return [text.text for text in ET.fromstring(picture).iter(f"{SVG}text")]


class Figure(unittest.TestCase):
    def test_dots_stand_where_their_values_are(self):
        picture = svg([Panel("a & b", "axis", [Dot("zero", 0.0), Dot("ten", 10.0, 2.0), Dot("five", 5.0), Dot("no", None)])])
        zero, ten, five = (float(dot.get("cx")) for dot in ET.fromstring(picture).iter(f"{SVG}circle"))
        self.assertAlmostEqual(five, (zero + ten) / 2, delta=0.1)
        self.assertGreater(ten, zero + 50)
        told = words(picture)
        for word in ("a & b", "+10.0 %", "none", "0 %", "5 %"):
            self.assertIn(word, told)

    def test_any_span_has_a_few_ticks(self):
        for top in (0.0, 1e-9, 0.03, 1.0, 7.0, 99.0, 1234.0, 1e9, -40.0):
            picture = svg([Panel("", "", [Dot("a", top, abs(top) / 10)])])
            ticks = [told for told in words(picture) if told and told.endswith(" %")]
            self.assertTrue(3 <= len(ticks) <= 8, (top, ticks))
            for dot in ET.fromstring(picture).iter(f"{SVG}circle"):
                self.assertTrue(0 <= float(dot.get("cx")) <= 400, top)

    def test_nothing_is_no_picture(self):
        self.assertEqual(svg([]), "")


FRAMES = unittest.skipUnless(
    importlib.util.find_spec("pandas") and importlib.util.find_spec("pyarrow"), "pandas with PyArrow is not installed: no summary was made"
)


def result_of(rows, name="a"):
    """A result of rows, each a dict; what they lack is 0, or empty."""
    import pyarrow

    words = ("setting", "workload", "pricing", "objective", "strategy")
    columns = [*words, *_FIGURES]
    table = pyarrow.table({column: [row.get(column, "" if column in words else 0.0) for row in rows] for column in columns})

    class Records:
        cases, failed, remarks = len(rows), 0, []
        __arrow_c_stream__ = table.__arrow_c_stream__
        __arrow_c_schema__ = table.schema.__arrow_c_schema__

    Records.name = name
    return Result(Records)


@FRAMES
class Summary(unittest.TestCase):
    ROWS = [{"workload": "w", "objective": "time", "strategy": "s", "overhead_net_time": x, "time_h": x} for x in (0.0, 0.1, 0.5)]

    def test_is_of_means(self):
        [row] = result_of(self.ROWS).summary().to_dict("records")
        self.assertEqual(row["cases"], 3)
        self.assertAlmostEqual(row["time_h"], 0.2)  # the one in the middle is 0.1
        self.assertNotIn("setting", row)

    def test_the_figure_has_standard_errors(self):
        # Of 0, 0.1 and 0.5: a deviation of 26.46 %, a standard error of 15.28 %.
        told = {}
        with unittest.mock.patch("scavsim._result.svg", lambda panels: told.update(panels=panels)):
            result_of(self.ROWS).figure()
        [panel] = told["panels"]
        self.assertAlmostEqual(panel.dots[0].percent, 20.0)
        self.assertAlmostEqual(panel.dots[0].error, 15.2753, places=3)

    def test_settings_are_told_apart(self):
        calm = [{**row, "setting": "variation.step_cv=0"} for row in self.ROWS]
        wild = [{**row, "setting": "variation.step_cv=0.5", "overhead_net_time": 1.0} for row in self.ROWS]
        result = result_of(calm + wild)
        frame = result.summary()
        self.assertEqual(list(frame["setting"]), ["variation.step_cv=0", "variation.step_cv=0.5"])
        self.assertEqual(list(frame["cases"]), [3, 3])
        self.assertEqual([round(own, 9) for own in frame["overhead_net_time"]], [0.2, 1.0])
        told = words(result.figure())
        for word in ("+20.0 %", "+100.0 %"):
            self.assertIn(word, told)
        self.assertEqual(sum("variation.step_cv=0.5" in (word or "") for word in told), 1)
        self.assertIn("variation.step_cv=0.5", result._repr_html_())

    def test_the_name_is_no_markup(self):
        shown = result_of(self.ROWS, "<img src=x onerror=alert(1)>")._repr_html_()
        self.assertNotIn("<img", shown)
        self.assertIn("&lt;img", shown)


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

        class Records:
            name, cases, failed, remarks = "a <b>", len(table), 0, ["mind <this>"]
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
