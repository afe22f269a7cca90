#!/usr/bin/env python3
"""Build llama.cpp's programs from the source that the PyPI package llama-cpp-python carries.

    python build_llama.py FOLDER

leaves llama-server, llama-batched-bench, llama-bench and llama-quantize in FOLDER/build/bin.  Needs a C++ compiler;
cmake and ninja are taken from the path, or else as wheels into FOLDER/venv.  Takes some minutes on many cores, most of
an hour on two.

The source archive is read from the package index itself, because pip would build the whole package to look at it.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import os
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
from pathlib import Path

VERSION = "0.3.36"
TARGETS = ["llama-server", "llama-batched-bench", "llama-bench", "llama-quantize"]
OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    "GGML_NATIVE": "ON",
    "LLAMA_CURL": "OFF",
    "LLAMA_OPENSSL": "OFF",
    "LLAMA_BUILD_TESTS": "OFF",
    "LLAMA_BUILD_EXAMPLES": "OFF",
    "LLAMA_BUILD_SERVER": "ON",
    "LLAMA_BUILD_UI": "OFF",
}


def read(url: str) -> tuple[bytes, str]:
    """(content, final address) of a page or file.  A private certificate is taken from PIP_CERT."""
    context = ssl.create_default_context(cafile=os.environ.get("PIP_CERT"))
    with urllib.request.urlopen(url, timeout=300, context=context) as answer:
        return answer.read(), answer.url


def package_index() -> str:
    """The simple page of the index that pip uses here: PIP_INDEX_URL, pip's configuration, or pip's own default."""
    if index := os.environ.get("PIP_INDEX_URL"):
        return index
    for section in ["install", "global"]:
        command = [sys.executable, "-m", "pip", "config", "get", f"{section}.index-url"]
        found = subprocess.run(command, capture_output=True, text=True)
        if found.returncode == 0 and found.stdout.strip():
            return found.stdout.strip()
    try:
        from pip._internal.models.index import PyPI
    except ImportError:
        sys.exit("no package index known: set PIP_INDEX_URL")
    return PyPI.simple_url


def source_link(index: str, version: str) -> tuple[str, str]:
    """(address, SHA-256 or nothing) of the source archive, from the index's simple page."""
    page, base = read(f"{index.rstrip('/')}/llama-cpp-python/")
    for link in re.findall(r'href="([^"]+)"', page.decode()):
        address, _, fragment = urllib.parse.urljoin(base, html.unescape(link)).partition("#")
        if address.endswith(f"/llama_cpp_python-{version}.tar.gz"):
            return address, fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else ""
    sys.exit(f"{index} lists no source archive of llama-cpp-python {version}")


def unpack(folder: Path, version: str) -> Path:
    """Fetch and unpack the archive; the folder of llama.cpp's source."""
    source = folder / f"llama_cpp_python-{version}" / "vendor" / "llama.cpp"
    if (source / "CMakeLists.txt").exists():
        return source
    address, expected = source_link(package_index(), version)
    print(f"fetching {address}", flush=True)
    content, _ = read(address)
    found = hashlib.sha256(content).hexdigest()
    if expected and found != expected:
        sys.exit(f"{address} has SHA-256 {found}, not {expected}: fetch it again")
    archive = folder / address.rsplit("/", 1)[1]
    archive.write_bytes(content)
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    archive.unlink()
    return source


def tools(folder: Path) -> tuple[str, str]:
    """cmake and ninja, installed from wheels if the machine has none."""
    found = shutil.which("cmake"), shutil.which("ninja")
    if all(found):
        return found
    environment = folder / "venv"
    programs = environment / "bin" / "cmake", environment / "bin" / "ninja"
    if not all(program.exists() for program in programs):
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        pip = [environment / "bin" / "python", "-m", "pip", "install", "--only-binary", ":all:"]
        subprocess.run([*pip, "cmake", "ninja"], check=True)
    return str(programs[0]), str(programs[1])


def build(folder: Path, jobs: int, version: str = VERSION) -> Path:
    """The folder with the programs, built where missing."""
    programs = folder / "build" / "bin"
    if all((programs / target).exists() for target in TARGETS):
        return programs
    folder.mkdir(parents=True, exist_ok=True)
    source = unpack(folder, version)
    cmake, ninja = tools(folder)
    options = [f"-D{name}={value}" for name, value in OPTIONS.items()]
    generator = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    subprocess.run([cmake, "-S", source, "-B", folder / "build", *generator, *options], check=True)
    subprocess.run([cmake, "--build", folder / "build", "-j", str(jobs), "--target", *TARGETS], check=True)
    return programs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--version", default=VERSION, help="of llama-cpp-python (default: %(default)s)")
    parser.add_argument("-j", "--jobs", type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()
    try:
        print(build(arguments.folder.resolve(), arguments.jobs, arguments.version))
    except (OSError, subprocess.CalledProcessError, tarfile.TarError) as error:
        sys.exit(f"no llama.cpp: {error}")


if __name__ == "__main__":
    main()
