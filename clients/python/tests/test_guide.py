from __future__ import annotations

import contextlib
import io
import re
import sys
import unittest
from pathlib import Path
from typing import List

from .case import ServerCase

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
SECTIONS = {text.partition("\n")[0]: text for text in GUIDE.split("\n## ")}


def blocks_of(section: str) -> List[str]:
    return re.findall(r"^```python\n(.*?)^```", SECTIONS[section], re.MULTILINE | re.DOTALL)


class Guide(ServerCase):
    def test_the_first_example_has_ten_lines_and_works(self) -> None:
        first = BLOCKS[0]
        self.assertLessEqual(first.count("\n"), 10)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(first, {})
        self.assertEqual(printed.getvalue(), "loss 0.1\nSUCCEEDED 0\n")

    def test_every_example_is_python_and_short(self) -> None:
        for block in BLOCKS:
            compile(block, "docs/python.md", "exec")
            self.assertLessEqual(block.count("\n"), 45, block)

    def test_the_recipe_for_ci_submits_once(self) -> None:
        for expected in ("submitted", "known already"):
            printed, remarks = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(remarks):
                with self.assertRaises(SystemExit) as caught:
                    exec(blocks_of("From CI and scripts")[0].replace("'local'", repr(self.folder)), {})
            self.assertEqual((caught.exception.code, printed.getvalue()), (0, "tested\n"))
            self.assertTrue(remarks.getvalue().startswith(expected), remarks.getvalue())

    def test_the_example_of_asyncio_works(self) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(blocks_of("asyncio")[0].replace("sweep/", f"sweep/{self.folder}/"), {})
        lines = printed.getvalue().splitlines()
        self.assertEqual(sorted(lines[:2]), ["loss at 0.01", "loss at 0.1"])
        self.assertEqual(lines[2], "['SUCCEEDED', 'SUCCEEDED']")

    def test_the_example_of_functions_works(self) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(blocks_of("Functions as jobs")[0], {})
        self.assertTrue(printed.getvalue().startswith("[8, 16] job_"), printed.getvalue())

    def test_the_errors_are_caught_as_described(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(f"import berth\nclient = berth.Client()\n{blocks_of('Errors')[0]}", {})

    def test_the_example_inside_a_job_reports(self) -> None:
        example, *snippets = blocks_of("Inside a job")
        env = {"PYTHONPATH": str(ROOT / "clients/python/src")}
        job = self.client.submit([sys.executable, "-c", example], cpu=0.5, memory="128MiB", env=env)
        ended = self.client.wait(job)
        self.assertTrue(ended.succeeded, list(self.client.logs(job)))
        self.assertEqual([artifact.name for artifact in self.client.artifacts(job)], ["result"])
        for snippet in snippets:
            self.assertLessEqual(snippet.count("\n"), 15, snippet)


if __name__ == "__main__":
    unittest.main()
