from __future__ import annotations

import importlib.util
import sys
import unittest
from pathlib import Path
from types import ModuleType
from typing import Any, Dict
from unittest.mock import patch

DESCRIPTOR = Path(__file__).parent.parent / "src/psij-descriptors/berth_descriptor.py"


class StrictVersion(str):
    """Replaces the class of distutils."""


class PackagingVersion(str):
    """Replaces the class of packaging."""


class OldDescriptor:
    def __init__(self, name: str, version: str, cls: str) -> None:
        self.name, self.version, self.cls = name, version, cls


class NewDescriptor(OldDescriptor):
    def __init__(self, name: str, version: str, cls: str, nice_name: str = "") -> None:
        super().__init__(name, version, cls)
        self.nice_name = nice_name


def load(**names: Any) -> Any:
    """Loads the descriptor with a fake psij-python that has these names."""
    packaging = ModuleType("packaging.version")
    vars(packaging)["Version"] = PackagingVersion
    descriptor, psij = ModuleType("psij.descriptor"), ModuleType("psij")
    vars(descriptor).update(names)
    vars(psij)["descriptor"] = descriptor
    modules: Dict[str, ModuleType] = {"psij": psij, "psij.descriptor": descriptor}
    modules.update({"packaging": ModuleType("packaging"), "packaging.version": packaging})
    spec = importlib.util.spec_from_file_location("berth_descriptor_of_test", DESCRIPTOR)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    with patch.dict(sys.modules, modules):
        spec.loader.exec_module(module)
    return vars(module)["__PSI_J_EXECUTORS__"][0]


class Descriptors(unittest.TestCase):
    def test_psij_with_versions_of_distutils_loads_the_executor(self) -> None:
        found = load(Descriptor=OldDescriptor, StrictVersion=StrictVersion, Version=object)
        self.assertEqual((found.name, type(found.version)), ("berth", StrictVersion))

    def test_psij_with_versions_of_packaging_loads_the_executor(self) -> None:
        found = load(Descriptor=NewDescriptor)
        self.assertEqual((found.name, found.nice_name, type(found.version)), ("berth", "Berth", PackagingVersion))
