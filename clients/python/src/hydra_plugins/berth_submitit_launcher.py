"""Sweeps of Hydra through submitit on Berth: `python app.py -m hydra/launcher=submitit_berth lr=0.1,0.01`."""

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

try:
    from hydra.core.config_store import ConfigStore
    from hydra_plugins.hydra_submitit_launcher.config import BaseQueueConf
    from hydra_plugins.hydra_submitit_launcher.submitit_launcher import BaseSubmititLauncher
except ImportError:  # Hydra imports every plug-in, also where its launcher for submitit is not installed
    pass
else:

    class BerthLauncher(BaseSubmititLauncher):
        _EXECUTOR = "berth"

    @dataclass
    class BerthQueueConf(BaseQueueConf):
        """Keywords of `berth.Client.submit` that a sweep may set, in addition to those of all launchers."""

        _target_: str = "hydra_plugins.berth_submitit_launcher.BerthLauncher"
        max_num_timeout: int = 0
        setup: Optional[List[str]] = None
        signal_delay_s: Optional[float] = None
        executor: Optional[str] = None
        queue: Optional[str] = None
        project: Optional[str] = None
        account: Optional[str] = None
        image: Optional[str] = None
        gpu_model: Optional[str] = None
        bid: Optional[int] = None
        preemptable: Optional[bool] = None
        restartable: Optional[bool] = None
        env: Dict[str, str] = field(default_factory=dict)
        labels: Dict[str, str] = field(default_factory=dict)
        custom_attributes: Dict[str, Any] = field(default_factory=dict)

    ConfigStore.instance().store(
        group="hydra/launcher", name="submitit_berth", node=BerthQueueConf(), provider="berth-jobs"
    )
