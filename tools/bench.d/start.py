# SPDX-License-Identifier: BSD-2-Clause
"""Figures of one run of iso-bench-start: starting `true`, against bubblewrap in the same guest."""

import json
import sys

from figures import Unusable

SCENES = ("native", "bubblewrap", "isoctl")
PHASES = ("exec", "whole")
# Of DESIGN: seal to exec, and the whole call; bubblewrap's own call is the anchor of both.
GOALS = (("seal to exec / bubblewrap", "exec", 0.12), ("isoctl seal true / bubblewrap", "whole", 0.55))


class Start:
    """value[scene][phase], in nanoseconds of virtual time: instructions and waits."""

    def __init__(self, lines):
        self.info, self.value = {}, {}
        for line in lines:
            word = line.split()
            if word[:1] == ["info"] and len(word) == 3:
                self.info[word[1]] = word[2]
            elif word[:1] == ["start"] and len(word) == 4:
                self.value.setdefault(word[1], {})[word[2]] = float(word[3])
            else:
                raise Unusable(f"not a line of figures: {line.rstrip()}")
        if "release" not in self.info or any(p not in self.value.get(s, {}) for s in SCENES for p in PHASES):
            raise Unusable("a figure is missing")

    def goals(self):
        anchor = self.value["bubblewrap"]["whole"]
        return [(what, self.value["isoctl"][phase] / anchor, limit) for what, phase, limit in GOALS]

    def text(self):
        lines = [f"\nLinux {self.info['release']}: from the call to the command, and to the call's end (million)"]
        lines += [f"{'':14}{'exec':>10}{'whole':>10}"]
        for scene in SCENES:
            lines.append(f"{scene:14}" + "".join(f"{self.value[scene][p] / 1e6:10.2f}" for p in PHASES))
        lines.append("")
        for what, figure, limit in self.goals():
            lines.append(f"{what:38}{figure:8.3f}x {'<= ' + format(limit, '.2f'):>8}x  {'met' if figure <= limit else 'missed'}")
        return "\n".join(lines)

    def as_json(self):
        return {
            "release": self.info["release"],
            "nanoseconds": self.value,
            "goals": [
                {"goal": what, "figure": round(figure, 5), "limit": limit, "met": figure <= limit}
                for what, figure, limit in self.goals()
            ],
        }


def report(files, as_json):
    """Prints the figures of these files. An exit status."""
    try:
        runs = [Start(file.read_text(encoding="utf-8").splitlines()) for file in files]
    except Unusable as e:
        print(f"tools/bench: {e}", file=sys.stderr)
        return 3
    if as_json:
        print(json.dumps([run.as_json() for run in runs], indent=1))
    else:
        print("\n".join(run.text() for run in runs))
    return 0
