"""The descriptor by which psij-python finds the executor `berth`."""

import inspect

from psij import descriptor

from berth import __version__


def _describe() -> descriptor.Descriptor:
    """Makes the descriptor. psij-python up to 0.9.11 uses versions of distutils; later ones use packaging and `nice_name`."""
    if hasattr(descriptor, "StrictVersion"):
        version = descriptor.StrictVersion
    else:
        from packaging.version import Version

        version = Version
    named = {"nice_name": "Berth"} if "nice_name" in inspect.signature(descriptor.Descriptor).parameters else {}
    return descriptor.Descriptor(
        name="berth", version=version(__version__), cls="berth_psij.executor.BerthJobExecutor", **named
    )


__PSI_J_EXECUTORS__ = [_describe()]
