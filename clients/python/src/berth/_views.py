"""Base classes of generated types, which define how objects are shown."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, List, Tuple, cast

from ._times import format_age

if TYPE_CHECKING:
    from .generated.types import Explanation, Job

FINAL_STATES = frozenset({"SUCCEEDED", "FAILED", "CANCELLED", "INTERRUPTED"})


class JobView:
    """Adds to a job properties about its end, and a small table for notebooks."""

    @property
    def succeeded(self) -> bool:
        return cast("Job", self).state == "SUCCEEDED"

    @property
    def is_final(self) -> bool:
        return cast("Job", self).state in FINAL_STATES

    def __str__(self) -> str:
        job = cast("Job", self)
        reason = f" ({job.state_reason})" if job.state_reason else ""
        return f"{job.id} {job.name or ''}: {job.state}{reason}"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in self._describe() if value
        )
        return f"<table>{rows}</table>"

    def _describe(self) -> List[Tuple[str, str]]:
        job = cast("Job", self)
        progress = job.progress
        share = f"{progress.fraction:.0%}" if progress and progress.fraction is not None else ""
        message = progress.message if progress else None
        ran = format_age(job.started_at, job.finished_at) if job.started_at else ""
        return [
            ("job", job.id),
            ("name", job.name or ""),
            ("state", " ".join(filter(None, [job.state, job.state_reason]))),
            ("because", job.state_info or ""),
            ("progress", " · ".join(filter(None, [share, message]))),
            ("exit code", "" if job.exit_code is None else str(job.exit_code)),
            ("waited" if job.started_at else "waits", format_age(job.created_at, job.started_at or job.finished_at)),
            ("ran" if job.finished_at else "runs", ran),
            ("queue", f"{job.queue.name} · {job.pool.name}"),
            ("labels", ", ".join(f"{key}={value}" if value else key for key, value in job.labels.items())),
        ]


class ExplanationView:
    """Adds to an explanation its text: why the job waits, or how it ended."""

    def __str__(self) -> str:
        why = cast("Explanation", self)
        lines = [" ".join(filter(None, [why.state, why.state_reason, why.state_info]))]
        scheduling = why.scheduling
        if scheduling is None:
            return lines[0] if why.exit_code is None else f"{lines[0]}, exit code {why.exit_code}"
        lines += [reason.message for reason in scheduling.reasons]
        lines += [f"waits for {gate.code.lower()}" for gate in scheduling.gates if not gate.open]
        lines += [f"missing: {missing}" for missing in scheduling.fit.missing]
        if scheduling.jobs_ahead:
            lines.append(f"{scheduling.jobs_ahead} jobs ahead")
        start = scheduling.estimated_start
        if start is not None and start.p50 is not None:
            lines.append(f"may start at {start.p50.isoformat(timespec='seconds')}")
        return "\n".join(lines)
