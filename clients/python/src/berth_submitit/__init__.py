"""The executor `berth` of submitit: `submitit.AutoExecutor(folder, cluster="berth")`."""

from .environment import BerthJobEnvironment
from .executor import BerthExecutor, BerthInfoWatcher, BerthJob

__all__ = ["BerthExecutor", "BerthInfoWatcher", "BerthJob", "BerthJobEnvironment"]
