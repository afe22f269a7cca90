#!/usr/bin/env python3
"""Make PyPI's torch importable on a machine without CUDA.

PyPI's Linux wheel of torch is linked against CUDA libraries that come as several
gigabytes of separate wheels.  Training the tiny judge needs none of them, so torch is
installed alone (`pip install --no-deps torch`) and this script satisfies the dynamic
linker: for every shared object that torch's libraries ask for and the machine lacks, it
compiles a stub that exports the missing symbols under the expected versions.  A stub
function returns cudaErrorNoDevice, so torch sees no GPU.

    pip install --no-deps torch
    python scripts/tiny_judge/torch_cpu.py        # needs cc and readelf (binutils)

Running it again is harmless.  Where torch imports already, nothing is done.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tempfile
from collections import defaultdict
from pathlib import Path

IMPORT = [sys.executable, "-c", "import torch; torch.ones(2, requires_grad=True).sum().backward()"]
"""The command that must succeed in the end."""


NO_DEVICE = 100
"""cudaErrorNoDevice."""


def readelf(*arguments: str) -> str:
    """What `readelf` prints."""
    return subprocess.run(
        ["readelf", "-W", *arguments], check=True, capture_output=True, text=True
    ).stdout


def missing_libraries(libraries: list[Path]) -> set[str]:
    """Names of the shared objects that `libraries` ask for and the linker cannot find."""
    missing = set()
    for library in libraries:
        listing = subprocess.run(["ldd", library], capture_output=True, text=True).stdout
        missing.update(re.findall(r"^\s*(\S+) => not found", listing, re.MULTILINE))
    return missing


def wanted_versions(library: Path) -> dict[str, str]:
    """Symbol version -> shared object it is expected in, for one library."""
    versions, source = {}, ""
    for line in readelf("-V", str(library)).splitlines():
        if found := re.search(r"\bFile: (\S+)", line):
            source = found[1]
        elif source and (found := re.search(r"\bName: (\S+)", line)):
            versions[found[1]] = source
    return versions


def symbols(library: Path) -> tuple[set[str], set[tuple[str, str]]]:
    """(defined names, undefined (name, version) pairs) of a library's dynamic table."""
    defined, undefined = set(), set()
    for line in readelf("--dyn-syms", str(library)).splitlines():
        columns = line.split()
        if len(columns) < 8 or not columns[0].rstrip(":").isdigit():
            continue
        name, _, version = columns[7].partition("@")
        if columns[6] != "UND":
            defined.add(name)
        elif columns[4] != "WEAK":
            undefined.add((name, version.lstrip("@")))
    return defined, undefined


def stub_function(name: str) -> str:
    """C source of one stub: an error text, or the error "no device"."""
    if re.search(r"(ErrorString|ErrorName|StatusString|StatusName)$", name):
        return f'const char *{name}(void) {{ return "no CUDA here"; }}\n'
    return f"int {name}(void) {{ return {NO_DEVICE}; }}\n"


def build_stub(folder: Path, name: str, by_version: dict[str, set[str]]) -> None:
    """Compile the stub library `name` into `folder`."""
    names = sorted(set().union(*by_version.values()))
    script = []
    for version in sorted(by_version):
        if version:
            exported = "; ".join(sorted(by_version[version])) or "juror_stub"
            script.append(f"{version} {{ global: {exported}; }};")
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch, "stub.c")
        source.write_text("".join(map(stub_function, names)))
        command = ["cc", "-shared", "-fPIC", "-w", "-fno-builtin", f"-Wl,-soname,{name}"]
        if script:
            versions = Path(scratch, "stub.map")
            versions.write_text("\n".join(script))
            command.append(f"-Wl,--version-script={versions}")
        subprocess.run([*command, "-o", str(folder / name), str(source)], check=True)


def main() -> None:
    """Build what is missing next to torch's own libraries, then try the import."""
    if subprocess.run(IMPORT, capture_output=True).returncode == 0:
        print("torch imports already")
        return
    folder = Path(sysconfig.get_paths()["purelib"], "torch", "lib")
    libraries = sorted(folder.glob("*.so*"))
    if not libraries:
        sys.exit(f"no torch in {folder}: run `pip install --no-deps torch` first")
    missing = missing_libraries(libraries)
    plan: dict[str, dict[str, set[str]]] = {name: defaultdict(set) for name in missing}
    defined, loose = set(), set()
    for library in libraries:
        sources = wanted_versions(library)
        own, undefined = symbols(library)
        defined |= own
        for name, version in undefined:
            if sources.get(version) in plan:
                plan[sources[version]][version].add(name)
            elif not version:
                loose.add(name)
    if missing:
        # Symbols without a version may come from anywhere: one stub carries them all.
        plan[min(missing)][""] |= {n for n in loose - defined if re.match(r"_?_?(cu|nccl|nv)", n)}
    for name, by_version in sorted(plan.items()):
        build_stub(folder, name, by_version)
        print(f"{name}: {sum(map(len, by_version.values()))} symbols")
    subprocess.run(IMPORT, check=True)
    print("torch imports")


if __name__ == "__main__":
    main()
