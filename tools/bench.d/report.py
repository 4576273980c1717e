# SPDX-License-Identifier: BSD-2-Clause
"""Prints the figures of tools/bench, and compares those of hooks with the committed baselines."""

import argparse
import json
import pathlib
import sys

import figures
import start

WORSE = 1.02
NAMES = {
    "read": "read",
    "write": "write",
    "stat": "stat",
    "open2": "open+close, depth 2",
    "open7": "open+close, depth 7",
    "open32": "open+close, depth 32",
    "connect": "connect",
    "exec": "fork+exec true",
    "exec_static": "fork+exec, static",
}


def print_table(run):
    print(f"\nLinux {run.release}: instructions added to one operation")
    print(f"{'':22}{'native':>10}{'Landlock':>10}{'outside':>10}{'inside':>10}{'10,000':>10}  inside/Landlock")
    for operation, name in NAMES.items():
        cells = [f"{run.value['native'][operation]:10.0f}"]
        for scene in ("landlock",) + figures.SCENES:
            cells.append(f"{run.added(scene, operation):+10.0f}")
        anchor = run.added("landlock", operation)
        share = ""
        if anchor > figures.REPEATS and not operation.startswith("exec"):
            share = f"{run.added('inside', operation) / anchor:8.2f}x"
        print(f"{name:22}{''.join(cells)}{share}")


def print_goals(run):
    print(f"\n{'':38}{'figure':>9}{'goal':>9}")
    for what, figure, limit, unit in figures.goals(run):
        form = (lambda x: f"{x:.3f}x") if unit else (lambda x: f"{x:.0f}")
        verdict = {True: "met", False: "missed", None: "nothing to compare with"}[figures.met(figure, limit)]
        shown = "-" if figure is None else form(figure)
        print(f"{what:38}{shown:>9}{'<= ' + form(limit):>9}  {verdict}")


def print_programs(run):
    print(f"\n{'scene':13}{'operation':13}{'program':28}{'runs':>7}{'each':>9}   (each with two clock readings)")
    for scene, operations in run.program.items():
        for operation, programs in operations.items():
            for name, (runs, cost) in programs.items():
                print(f"{scene:13}{operation:13}{name:28}{runs:7.2f}{cost:9.0f}")


def as_json(run):
    return {
        "release": run.release,
        "clocksource": run.info.get("clocksource"),
        "instructions": run.value,
        "ratio_to_native": run.ratios(),
        "programs": run.program,
        "goals": [
            {"goal": what, "figure": figure, "limit": limit, "met": figures.met(figure, limit)}
            for what, figure, limit, _ in figures.goals(run)
        ],
    }


def baseline_text(run):
    return json.dumps({"release": run.release, "ratio_to_native": run.ratios()}, indent="\t") + "\n"


def check(run, baselines):
    """What is worse than it was, or (without a baseline) than it should be."""
    file = baselines / f"{run.release}.json"
    if not file.exists():
        print(f"no baseline for {run.release}; the goals decide. {file.name}:\n{baseline_text(run)}", file=sys.stderr)
        return [
            f"{run.release}: {what}: {figure:.3f}, goal {limit}"
            for what, figure, limit, _ in figures.goals(run)
            if figures.met(figure, limit) is False
        ]
    before = json.loads(file.read_text(encoding="utf-8"))["ratio_to_native"]
    worse = []
    for scene, operations in run.ratios().items():
        for operation, ratio in operations.items():
            was = before.get(scene, {}).get(operation)
            if was is None:
                worse.append(f"{run.release}: {scene} {operation}: not in the baseline; run tools/bench hooks --update")
            elif ratio > was * WORSE:
                worse.append(f"{run.release}: {scene} {operation}: {ratio:.4f} of native, was {was:.4f}")
    return worse


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", choices=("hooks", "start"), default="hooks")
    parser.add_argument("--baselines", type=pathlib.Path, required=True)
    for flag in ("--check", "--update", "--json", "--programs"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    return parser.parse_args()


def main():
    options = arguments()
    if options.kind == "start":
        return start.report(options.files, options.json)
    try:
        runs = [figures.Run(file.read_text(encoding="utf-8").splitlines()) for file in options.files]
    except figures.Unusable as e:
        print(f"tools/bench: {e}", file=sys.stderr)
        return 3
    if options.json:
        print(json.dumps([as_json(run) for run in runs], indent=1))
    for run in runs if not options.json else []:
        print_table(run)
        print_goals(run)
        if options.programs:
            print_programs(run)
    if options.update:
        options.baselines.mkdir(exist_ok=True)
        for run in runs:
            (options.baselines / f"{run.release}.json").write_text(baseline_text(run), encoding="utf-8")
    worse = [line for run in runs for line in check(run, options.baselines)] if options.check else []
    for line in worse:
        print(f"tools/bench: worse: {line}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
