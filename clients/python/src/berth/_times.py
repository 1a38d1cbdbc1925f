from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Optional, Union

Duration = Union[float, timedelta, str]
"""Seconds, a timedelta, or a text such as "90s", "10m", "2h", "1d"."""

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_time(text: str) -> datetime:
    """Parses a time. `fromisoformat` before Python 3.11 reads neither "Z" nor fractions of other than 3 or 6 digits."""
    fraction = re.search(r"\.(\d+)", text)
    digits = (fraction.group(1) if fraction else "")[:6].ljust(6, "0")
    moment = datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")
    return moment.replace(microsecond=int(digits), tzinfo=timezone.utc)


def format_time(moment: datetime) -> str:
    """Formats a time for the API. A time without a zone is local time."""
    return moment.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def to_seconds(duration: Duration) -> float:
    if isinstance(duration, timedelta):
        return duration.total_seconds()
    if not isinstance(duration, str):
        return float(duration)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd])\s*", duration)
    if not match:
        raise ValueError(f'{duration!r} is not a duration such as "90s", "10m", "2h", "1d"')
    return float(match.group(1)) * _SECONDS[match.group(2)]


def format_age(since: datetime, until: Optional[datetime] = None) -> str:
    """Formats the time that has passed: `2 h 5 m`."""
    seconds = int(((until or datetime.now(timezone.utc)) - since).total_seconds())
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            smaller = {"d": ("h", 3600), "h": ("m", 60), "m": ("s", 1)}[unit]
            rest = seconds % size // smaller[1]
            return f"{seconds // size} {unit}" + (f" {rest} {smaller[0]}" if rest else "")
    return f"{max(seconds, 0)} s"
