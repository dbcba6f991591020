"""The Python of the README, run as it stands there. Skipped where the native part or pandas is missing."""

import importlib.util
import os
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def missing():
    if importlib.util.find_spec("pandas") is None:
        return "pandas is not installed"
    try:
        import scavsim._native  # noqa: F401
    except ImportError:
        return "the native part is not built"
    return None


@unittest.skipIf(missing(), str(missing()))
class Documents(unittest.TestCase):
    def test_the_readme_runs(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        self.assertGreaterEqual(len(blocks), 1)
        before = os.getcwd()
        os.chdir(ROOT)
        try:
            for block in blocks:
                exec(block, {})
        finally:
            os.chdir(before)


if __name__ == "__main__":
    unittest.main()
