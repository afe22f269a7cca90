"""Finds the program `juror`."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from juror_rs.errors import JudgeError

NAME = "juror.exe" if os.name == "nt" else "juror"


def find_binary() -> str:
    """The program of JUROR_BINARY, else the one that was installed with this package, else one on the PATH.

    Raises:
        JudgeError: If there is none.
    """
    named = os.environ.get("JUROR_BINARY")
    if named:
        if not os.access(named, os.X_OK):
            raise JudgeError(f"JUROR_BINARY is {named}, and that is no program")
        return named
    for path in _installed():
        if os.access(path, os.X_OK):
            return str(path)
    on_path = shutil.which(NAME)
    if on_path is None:
        raise JudgeError(
            f"the program `{NAME}` was found neither beside {sys.executable} nor on the PATH; "
            "install the wheel of juror-rs, or set JUROR_BINARY to where it is (in the repository `target/release/juror`)"
        )
    return on_path


def _installed() -> Iterator[Path]:
    yield Path(sysconfig.get_path("scripts"), NAME)
    for scheme in ("user", "prefix"):
        yield Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme(scheme)), NAME)
    yield Path(sys.executable).parent / NAME
