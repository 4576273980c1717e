# SPDX-License-Identifier: BSD-2-Clause
"""Runs clang-tidy over the files named on standard input, two at a time.

A file that was found clean is not looked at again while nothing that clang-tidy can see of it has
changed: its text after the preprocessor (with macros and comments), its flags, .clang-tidy and
clang-tidy itself. The marks lie in BUILD/lint/tidy.

A file that BUILD does not compile (programs for guests are static, and not in a sanitized build) is
looked at as the build beside it, release, compiles it.
"""

import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

TIDY = "clang-tidy-14"
CLANG = "clang-14"


def commands(build):
    """The build and the compile command of each source, by absolute path; the first build wins."""
    rows = {}
    for place in (build, build.parent / "release"):
        database = place / "compile_commands.json"
        if place == build or database.exists():
            for row in json.loads(database.read_text()):
                rows.setdefault(row["file"], (place, row))
    return rows


def key_of(name, row, version):
    """What clang-tidy would see, as a digest; None when the file cannot be preprocessed."""
    checks = subprocess.run([TIDY, "--dump-config", name], capture_output=True, check=True).stdout
    args = shlex.split(row["command"])
    out = args.index("-o")
    del args[out:out + 2]
    args = [CLANG] + [a for a in args[1:] if a != "-c"]
    seen = subprocess.run(args + ["-E", "-dD", "-CC", "-P", "-w"], cwd=row["directory"],
                          capture_output=True, check=False)
    if seen.returncode:
        return None
    return hashlib.sha256(version + checks + row["command"].encode() + seen.stdout).hexdigest()


def check(name, place, row, build, version):
    """The findings in one file, as lines; place is the build that compiles it."""
    key = key_of(name, row, version)
    mark = build / "lint" / "tidy" / (key or "none")
    if key and mark.exists():
        return []
    run = subprocess.run([TIDY, "-p", str(place), "--quiet", "--warnings-as-errors=*",
                          "--extra-arg=-Wno-unknown-warning-option", name],
                         capture_output=True, text=True, check=False)
    here = str(pathlib.Path.cwd()) + "/"
    found = [re.sub(r"^(\S+:\d+):\d+: (?:error|warning): ", r"\1: ", line.replace(here, ""))
             for line in run.stdout.splitlines() if re.match(r"\S+:\d+:\d+: (error|warning): ", line)]
    if run.returncode and not found:
        found = [f"{name}:1: {TIDY} failed: {run.stderr.strip()[-300:]}"]
    if key and not found:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    return found


def main():
    build = pathlib.Path(sys.argv[1])
    rows = commands(build)
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    files = [line.rstrip("\n") for line in sys.stdin]
    here = pathlib.Path.cwd()
    known = [f for f in files if str(here / f) in rows]
    for f in sorted(set(files) - set(known)):
        print(f"{f}:1: no target of {build.name} or release compiles it; add it to its "
              "CMakeLists.txt, configure, or remove it")
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda f: check(f, *rows[str(here / f)], build, version), known):
            for line in found:
                print(line)


main()
