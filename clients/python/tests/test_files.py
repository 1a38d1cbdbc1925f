from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict

import berth
from berth import _files

from .case import ServerCase

FOLDERS = json.loads(Path(__file__).with_name("folders.json").read_text("utf-8"))


def make(folder: str, wanted: Dict[str, Any]) -> None:
    for name, content in wanted["files"].items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(content, dict) and "link" in content:
            os.symlink(content["link"], path)
            continue
        text, mode = (content, "644") if isinstance(content, str) else (content["content"], content["mode"])
        Path(path).write_text(text)
        os.chmod(path, int(mode, 8))
    if wanted.get("git"):
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)


class Lists(unittest.TestCase):
    def test_the_list_of_a_folder_is_the_same_in_all_clients(self) -> None:
        for wanted in FOLDERS:
            with self.subTest(wanted["name"]), tempfile.TemporaryDirectory() as folder:
                make(folder, wanted)
                entries = _files.list_folder(folder, wanted.get("include", ()), wanted.get("exclude", ()))
                self.assertEqual([entry["path"] for entry in entries], wanted["paths"])
                for entry in entries:
                    if "size" in entry:
                        entry["sha256"] = _files._hash_file(folder, entry)
                text = _files.write_list(entries, None)
                self.assertEqual(hashlib.sha256(text).hexdigest(), wanted["hash"])

    def test_files_that_cannot_be_part_of_a_snapshot_are_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.symlink("/etc/passwd", os.path.join(folder, "absolute"))
            os.symlink("../x", os.path.join(folder, "upwards"))
            os.mkfifo(os.path.join(folder, "pipe"))
            with self.assertRaises(berth.FolderRefusedError) as caught:
                _files.list_folder(folder)
        for name in ("absolute: it is a link", "upwards: it is a link", "pipe: it is not a file"):
            self.assertIn(name, str(caught.exception))

    def test_a_file_that_changed_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "train.py")
            for later in ("abc", "abcdefg", "ABCDEF"):
                path.write_text("abcdef")
                (entry,) = _files.list_folder(folder)
                entry["sha256"] = _files._hash_file(folder, entry)
                path.write_text(later)
                with self.assertRaisesRegex(berth.FolderRefusedError, "changed while it was read: train.py"):
                    list(_files._read_pieces(folder, entry))


class Submissions(ServerCase):
    def test_a_job_runs_in_a_copy_of_the_current_directory(self) -> None:
        Path("a.txt").write_text("as it was")
        Path("left-out").write_text("x")
        Path("large").write_bytes(os.urandom(700_000))
        job = self.client.submit(
            ["sh", "-c", "sleep 1; cat a.txt; ls"], cpu=0.1, memory="64MiB", here=True, exclude=["left-out"]
        )
        Path("a.txt").write_text("edited later")
        self.assertEqual(list(self.client.logs(job)), ["as it wasa.txt", "large"])
        self.assertEqual(self.client.upload(exclude=["left-out"]).new_files, 1)
        self.assertEqual(self.client.upload(exclude=["left-out"]).new_files, 0)

    def test_the_module_of_a_function_comes_along(self) -> None:
        Path("mine").mkdir()
        Path("mine/steps.py").write_text(
            "import berth, pathlib\n"
            "@berth.job(cpu=0.5, memory='96MiB', here=True)\n"
            "def read(n): return pathlib.Path('data.txt').read_text() * n\n"
        )
        Path("mine/__init__.py").write_text("")
        Path("data.txt").write_text("abc")
        script = "from mine.steps import read; f = read.submit(2); open('data.txt', 'w').write('later'); print(f.result())"
        answer = subprocess.run(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, check=True, timeout=120
        )
        self.assertEqual(answer.stdout.decode().strip(), "abcabc")

    def test_include_and_exclude_need_here(self) -> None:
        with self.assertRaisesRegex(TypeError, "need here=True"):
            self.client.submit(["true"], exclude=["x"])
