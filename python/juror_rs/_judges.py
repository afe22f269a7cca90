"""One judge for all calls of an adapter with equal settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from juror_rs.judge import Judge


def judge_with(settings: Mapping[str, Any]) -> Judge:
    """The judge with these settings of `juror_rs.Judge`, whose lists may be those of a configuration (OmegaConf's `ListConfig`)."""
    return _judge(**{name: _hashable(value) for name, value in settings.items()})


@lru_cache(maxsize=8)
def _judge(**settings: Any) -> Judge:
    return Judge(**settings)


def _hashable(value: object) -> object:
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return tuple(cast(Sequence[object], value))
    return value
