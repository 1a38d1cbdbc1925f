"""Converts a spec of PSI/J to the keywords of `Client.submit`."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

import psij

from berth import Resources

_PREFIX = "berth."
_STAGING = ("stage_in", "stage_out", "cleanup")


def to_options(spec: psij.JobSpec) -> Dict[str, Any]:
    if not isinstance(spec.executable, str) or not spec.executable:
        raise psij.InvalidJobException("spec.executable must be the path of a program")
    options: Dict[str, Any] = {
        "executable": spec.executable,
        "arguments": list(spec.arguments) if spec.arguments else None,
        "workdir": _text(spec.directory),
        "name": spec.name if spec.name != spec.executable else None,
        "inherit_environment": spec.inherit_environment,
        "environment": spec.environment,
        "stdin_path": _text(spec.stdin_path),
        "stdout_path": _text(spec.stdout_path),
        "stderr_path": _text(spec.stderr_path),
        "pre_launch": _text(spec.pre_launch),
        "post_launch": _text(spec.post_launch),
        "launcher": spec.launcher,
        "resources": _to_resources(spec.resources),
        **_to_attributes(spec.attributes),
    }
    if any(getattr(spec, name, None) for name in _STAGING):
        # psij-python 0.9.11 has no psij.staging.
        from berth_psij.staging import wrap

        options.update(wrap(spec))
    return {name: value for name, value in options.items() if value is not None}


def _to_resources(resources: Optional[psij.ResourceSpec]) -> Optional[Resources]:
    """Converts only given fields, because Berth accepts either `node_count` or `process_count`."""
    if resources is None:
        return None
    if not isinstance(resources, psij.ResourceSpecV1):
        raise psij.InvalidJobException(f"Resource specifications of version {resources.version} are not supported")
    by_node = resources.node_count is not None
    per_node = resources.processes_per_node
    if by_node and resources.process_count is not None:
        per_node = resources.computed_processes_per_node
    count = resources.process_count
    if not by_node and count is None and per_node is not None:
        count = per_node
    nodes = resources.computed_node_count
    return Resources(
        node_count=resources.node_count,
        process_count=None if by_node else count,
        processes_per_node=per_node,
        cpu_cores_per_process=resources.cpu_cores_per_process,
        gpu_cores_per_process=resources.gpu_cores_per_process,
        exclusive_node_use=resources.exclusive_node_use or None,
        # PSI/J counts the memory of the job, Berth that of each node.
        memory_bytes=None if resources.memory is None else -(-resources.memory // nodes),
    )


def _to_attributes(attributes: psij.JobAttributes) -> Dict[str, Any]:
    given: Mapping[str, object] = attributes.custom_attributes or {}
    return {
        "duration_seconds": attributes.duration.total_seconds() if attributes.duration is not None else None,
        "queue": attributes.queue_name,
        "project": attributes.account,
        "capacity_reservation_id": attributes.reservation_id,
        "custom_attributes": {name: value for name, value in given.items() if not name.startswith(_PREFIX)} or None,
        **{name[len(_PREFIX) :]: value for name, value in given.items() if name.startswith(_PREFIX)},
    }


def _text(path: object) -> Optional[str]:
    return None if path is None else str(path)
