"""A sweep of Hydra; needs hydra and its launcher for submitit: `python3 -m unittest tests.plugin_hydra`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .case import ServerCase

_APP = """
import hydra
from hydra.core.config_store import ConfigStore

ConfigStore.instance().store(name="config", node={"rate": 0.1})

@hydra.main(version_base=None, config_name="config")
def main(config):
    print("trained with", config.rate)

main()
"""


class HydraSweep(ServerCase):
    def test_a_sweep_runs_a_job_for_each_value(self) -> None:
        Path("app.py").write_text(_APP)
        overrides = ["mem_gb=1", "timeout_min=2", "+labels.sweep=rates", "stderr_to_stdout=true"]
        launcher = [f"{'+' * each.startswith('+')}hydra.launcher.{each.lstrip('+')}" for each in overrides]
        sweep = ["-m", "hydra/launcher=submitit_berth", "rate=0.1,0.2", "hydra.sweep.dir=runs"]
        subprocess.run([sys.executable, "app.py", *sweep, *launcher], check=True)
        jobs = list(self.client.list(labels={"sweep": "rates"}, descending=False))
        self.assertEqual([job.state for job in map(self.client.wait, jobs)], ["SUCCEEDED"] * 2)
        self.assertEqual([job.name for job in jobs], ["app"] * 2)
        logs = "\n".join(line for job in jobs for line in self.client.logs(job))
        for rate in ("0.1", "0.2"):
            self.assertIn(f"trained with {rate}", logs)
