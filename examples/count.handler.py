"""
Counts to `input["to"]`, one step a second. After an interruption, the next run continues where the last one stopped:

    berth submit --set handler=$PWD/examples/count.handler.py --set 'input={to: 60}' --set resumable=true --follow
"""

import time
from typing import Any, Dict

import berth


@berth.handler
def run(input: Dict[str, Any], job: berth.JobContext) -> None:
    count(job, 1)


@run.on_resume
def resume(closure: Dict[str, Any], job: berth.JobContext) -> None:
    count(job, closure["next"])


def count(job: berth.JobContext, start: int) -> None:
    to = int(job.input.get("to", 10))
    for step in range(start, to + 1):
        time.sleep(1)
        job.log(f"step {step} of {to}")
        job.progress(step / to, f"step {step}")
        job.save_closure({"next": step + 1})
    job.artifact("count", f"{to}\n")
