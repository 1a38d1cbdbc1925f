"""How psij-python finds the executor `berth`."""

from packaging.version import Version
from psij.descriptor import Descriptor

from berth import __version__

__PSI_J_EXECUTORS__ = [
    Descriptor(
        name="berth",
        nice_name="Berth",
        version=Version(__version__),
        cls="berth_psij.executor.BerthJobExecutor",
    )
]
