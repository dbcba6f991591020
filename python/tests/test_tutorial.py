"""The cells of docs/tutorial.ipynb, run one after the other. Skipped where the native part or pandas is missing."""

import ast
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import tempfile
import unittest

NOTEBOOK = pathlib.Path(__file__).parents[2] / "docs" / "tutorial.ipynb"


def outputs_of(source, names, count):
    """What a notebook shows of a cell: what it prints, and the value of its last line as text and, where it has one, as HTML or a picture."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), str(NOTEBOOK), "exec"), names)
        if last:
            value = eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        forms = {"text/plain": "__repr__", "text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}
        data = {form: lines(getattr(value, name)()) for form, name in forms.items() if hasattr(value, name)}
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def lines(text):
    return text.splitlines(keepends=True)


def texts(outputs):
    return [output["text"] if "text" in output else output["data"]["text/plain"] for output in outputs]


@unittest.skipUnless(importlib.util.find_spec("scavsim._native"), "the native part of scavsim is not built: no cell was run")
@unittest.skipUnless(importlib.util.find_spec("pandas") and importlib.util.find_spec("pyarrow"), "pandas with PyArrow is not installed: no cell was run")
class Tutorial(unittest.TestCase):
    def test_runs_from_top_to_bottom(self):
        """`SCAVSIM_RENEW=1`, with IPython for the picture, writes the outputs anew."""
        notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        names, before = {}, os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                outputs = [outputs_of("".join(cell["source"]), names, at) for at, cell in enumerate(cells, 1)]
                self.assertTrue(names["figures"][0].is_file())
            finally:
                os.chdir(before)
        if os.environ.get("SCAVSIM_RENEW"):
            for at, cell in enumerate(cells):
                cell.update(execution_count=at + 1, outputs=outputs[at])
            NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        # The last cell shows a picture where IPython is installed, else the name of its file.
        for cell, shown in zip(cells[:-1], outputs):
            self.assertEqual(texts(cell["outputs"]), texts(shown), "".join(cell["source"]))
        ranked = names["ranked"].to_pandas()
        # What AWS asks for these machines in us-east-1 in 2026, not the rate of a paper for others: 14 times less.
        listed = ranked["vm"].map({"g5.xlarge": 1.006, "g6e.xlarge": 1.861})
        bills = (ranked["vms"] * ranked["time_h"] * listed).tolist()
        for bill, cost in zip(bills, ranked["cost_usd"]):
            # Started seconds.
            self.assertAlmostEqual(cost / bill, 1, delta=0.02)
        costs = list(ranked["cost_usd"])
        self.assertEqual(costs, sorted(costs))
        regret = names["result"].summary().set_index("strategy")["regret_cost"]
        self.assertLess(regret["oracle"], regret["random"])


if __name__ == "__main__":
    unittest.main()
