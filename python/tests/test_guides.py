"""The Python in docs/python.md and docs/integrations.md, run as it stands. What needs a package that is missing is left out, and so is what
needs a cluster. Skipped where the native part is not built."""

import contextlib
import importlib.util
import io
import os
import pathlib
import re
import tempfile
import unittest
import unittest.mock
import warnings

ROOT = pathlib.Path(__file__).parents[2]
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
# By what stands in a block: what it needs.
NEEDS = {"summary()": "pandas", "to_pandas": "pandas", "import mlflow": "mlflow", "import wandb": "wandb", "import optuna": "optuna"}
# A cluster, and standard input.
LEFT_OUT = ("scavsim.ray", "serve(")


@unittest.skipUnless(importlib.util.find_spec("scavsim._native"), "the native part of scavsim is not built: no document was run")
@unittest.skipUnless((ROOT / "docs" / "python.md").is_file(), "the documents are not here")
class Documents(unittest.TestCase):
    def run_blocks(self, document):
        text = (ROOT / "docs" / document).read_text(encoding="utf-8")
        names, ran, before, printed = {}, 0, os.getcwd(), io.StringIO()
        offline = {"WANDB_MODE": "offline", "WANDB_SILENT": "true"}
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (pathlib.Path(folder) / "scenarios").symlink_to(ROOT / "scenarios")
            os.chdir(folder)
            offline.update(MLFLOW_TRACKING_URI=f"sqlite:///{folder}/runs.db", WANDB_DIR=folder, WANDB_CACHE_DIR=folder, WANDB_DATA_DIR=folder)
            try:
                with unittest.mock.patch.dict(os.environ, offline):
                    for block in BLOCK.findall(text):
                        missing = [package for word, package in NEEDS.items() if word in block and not importlib.util.find_spec(package)]
                        if missing or any(word in block for word in LEFT_OUT):
                            continue
                        exec(compile(block, document, "exec"), names)
                        ran += 1
                    if "wandb" in names:
                        importlib.import_module("wandb").teardown()
            finally:
                os.chdir(before)
        return names, ran, printed.getvalue()

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed: docs/python.md was not run")
    def test_python(self):
        names, ran, printed = self.run_blocks("python.md")
        self.assertGreaterEqual(ran, 6)
        self.assertIn("['cluster']['worker']", printed)
        self.assertIn("Take ", printed)
        result = names["scavsim"].run(names["scenario"], strategies={"cheapest": names["Cheapest"]}, search__strategies=["cheapest"])
        self.assertEqual(result.failed, 0)

    def test_integrations(self):
        _, ran, _ = self.run_blocks("integrations.md")
        there = sum(bool(importlib.util.find_spec(package)) for package in ("mlflow", "wandb", "optuna"))
        self.assertEqual(ran, there)


if __name__ == "__main__":
    unittest.main()
