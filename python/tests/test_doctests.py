"""The examples in docstrings. Skipped where the native part is not built."""

import doctest
import importlib
import importlib.util
import unittest

MODULES = ["_answers", "_commands", "_result", "_run", "_table", "strategy"]


@unittest.skipUnless(importlib.util.find_spec("scavsim._native"), "the native part of scavsim is not built: no example was run")
class Doctests(unittest.TestCase):
    def test_examples(self):
        tried = 0
        for name in MODULES:
            done = doctest.testmod(importlib.import_module(f"scavsim.{name}"), optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
            self.assertEqual(done.failed, 0, name)
            tried += done.attempted
        self.assertGreater(tried, 25)


if __name__ == "__main__":
    unittest.main()
