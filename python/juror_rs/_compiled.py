"""The compiled part of the package: the rules. What servers say needs none of it, so it is imported where it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from juror_rs._rules import Rules

_MODULE = "juror_rs._rules"


def rules_type() -> type[Rules]:
    """The class of the rules.

    Raises:
        ImportError: If the package is a folder of sources whose compiled part was not built.
    """
    try:
        from juror_rs._rules import Rules
    except ModuleNotFoundError as error:
        if error.name != _MODULE:
            raise
        raise ImportError(
            "the rules (`verify` and what uses it) are compiled, and this copy of juror_rs has only the sources: run "
            "`scripts/build_wheel.sh` in the repository and `pip install dist/juror_rs-*.whl`; judges behind a server "
            "(`Judge(url=…)`) work without",
            name=_MODULE,
        ) from error
    return Rules


def version() -> str:
    """The version of the package; `0+source` where only the sources are there."""
    try:
        from juror_rs._rules import VERSION
    except ModuleNotFoundError as error:
        if error.name != _MODULE:
            raise
        return "0+source"
    return VERSION
