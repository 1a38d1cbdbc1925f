"""Converts the keywords of `submit` to the JSON of a spec."""

from __future__ import annotations

import dataclasses
import re
from datetime import datetime
from typing import Any, Dict, Mapping, Optional, Sequence, Union

from ._times import Duration, format_time, to_seconds
from .generated.types import Dependency, JobFilter, JobSpec, JobSpecFields, Resources, Retry

Command = Union[Sequence[str], JobSpec]
"""A program and its arguments, without a shell; or a spec, whose fields the keywords replace."""

_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


class JobOptions(JobSpecFields, total=False):
    """The keywords of `submit`: every field of a spec, and shorter forms of some of them."""

    cpu: float
    """Number of cores."""
    memory: Union[int, str]
    """Memory: bytes, or a text such as "16GiB"."""
    gpu: int
    """Number of GPUs."""
    gpu_model: Union[str, Sequence[str]]
    """Text that the GPU model must contain; with `!text`, must not contain."""
    env: Mapping[str, str]
    """Environment variables."""
    tags: Sequence[str]
    """Labels without a value."""
    max_run_time: Duration
    """Maximum duration of a run: seconds, a timedelta, or a text such as "2h"."""
    duration: Duration
    """Expected duration of a run."""
    after: Sequence[Any]
    """Jobs, or ids of jobs, that must succeed first."""
    attempts: int
    """Maximum number of runs while the command fails."""


def build_spec(command: Optional[Command], options: Mapping[str, Any]) -> Dict[str, Any]:
    """Builds the JSON of a spec. Unknown keywords raise a TypeError."""
    base = command if isinstance(command, JobSpec) else JobSpec()
    fields = {name: value for name, value in options.items() if value is not None}
    if command is not None and not isinstance(command, JobSpec):
        if isinstance(command, str):
            raise TypeError('A command is a list of words: ["make", "test"], or with a shell ["sh", "-c", "make test"]')
        fields["command"] = [str(word) for word in command]
    _expand_resources(base, fields)
    labels = {**_pairs_of(base.labels), **_pairs_of(fields.get("labels")), **dict.fromkeys(fields.pop("tags", ()), "")}
    if labels:
        fields["labels"] = labels
    variables = {**_pairs_of(fields.get("environment")), **fields.pop("env", {})}
    if variables:
        fields["environment"] = variables
    for name in ("max_run_time", "duration"):
        if name in fields:
            fields[f"{name}_seconds"] = to_seconds(fields.pop(name))
    if "after" in fields:
        fields["depends_on"] = [Dependency(id_of(job)) for job in fields.pop("after")]
    if "attempts" in fields:
        fields["retry"] = Retry(max_attempts=fields.pop("attempts"))
    spec: Dict[str, Any] = to_json(dataclasses.replace(base, **fields))
    for name, key in (("labels", "key"), ("environment", "name")):
        if isinstance(spec.get(name), dict):
            spec[name] = [{key: each, "value": value} for each, value in spec[name].items()]
    return spec


def build_filter(options: Mapping[str, Any]) -> Dict[str, Any]:
    """Builds the JSON of a filter. Its labels may be a mapping, where None means every value."""
    labels = options.get("labels")
    filter_: Dict[str, Any] = to_json(JobFilter(**{**options, "labels": None}))
    if isinstance(labels, Mapping):
        filter_["labels"] = [
            {"key": key} if value is None else {"key": key, "value": value} for key, value in labels.items()
        ]
    elif labels is not None:
        filter_["labels"] = to_json(labels)
    return filter_


def id_of(job: Any) -> str:
    """Returns the id of a job, which may be given as an object or as the id."""
    return job if isinstance(job, str) else str(job.id)


def to_json(value: Any) -> Any:
    """Converts an input to JSON with the names of the schema, without None. Keys of mappings are not changed."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {_to_camel(name): to_json(each) for name, each in fields if each is not None}
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [to_json(each) for each in value]
    return value


def parse_size(size: Union[int, str]) -> int:
    if not isinstance(size, str):
        return int(size)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kKMGT]i?B)\s*", size)
    unit = match.group(2) if match else ""
    if not match or unit not in _UNITS:
        raise ValueError(f'{size!r} is not a size such as "16GiB" or "512MB"')
    return int(float(match.group(1)) * _UNITS[unit])


def _expand_resources(base: JobSpec, fields: Dict[str, Any]) -> None:
    short: Dict[str, Any] = {name: fields.pop(name) for name in ("cpu", "gpu") if name in fields}
    if "memory" in fields:
        short["memory_bytes"] = parse_size(fields.pop("memory"))
    if "gpu_model" in fields:
        model = fields.pop("gpu_model")
        short["gpu_model"] = [model] if isinstance(model, str) else model
    if short:
        resources = fields.get("resources") or base.resources or Resources()
        fields["resources"] = dataclasses.replace(resources, **short)


def _pairs_of(given: Any) -> Dict[str, str]:
    """Converts a mapping, or a list of Label or EnvironmentVariable, to a dictionary."""
    if given is None or isinstance(given, Mapping):
        return dict(given or {})
    return {getattr(each, "key", None) or each.name: each.value for each in given}


def _to_camel(name: str) -> str:
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)
