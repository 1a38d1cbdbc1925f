from __future__ import annotations

import os
import tempfile
import unittest
from typing import Any, ClassVar, Dict

import berth


@unittest.skipUnless(os.environ.get("BERTH_URL"), "BERTH_URL names no server")
class ServerCase(unittest.TestCase):
    """A test with a client of the server in BERTH_URL, in its own folder."""

    client: ClassVar[berth.Client]

    @classmethod
    def setUpClass(cls) -> None:
        cls.client = berth.Client()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.client.close()

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)

    def shell(self, script: str, **options: Any) -> berth.SubmittedJob:
        """Submits a script as a small job."""
        fields: Dict[str, Any] = {"cpu": 0.1, "memory": "64MiB", **options}
        return self.client.submit(["sh", "-c", script], **fields)
