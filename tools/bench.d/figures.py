# SPDX-License-Identifier: BSD-2-Clause
"""Figures of one run of iso-bench-hooks, and the design's goals for them."""

SCENES = ("outside", "inside", "inside10000")
FREE = ("read", "write", "stat")
OPERATIONS = FREE + ("open2", "open7", "open32", "connect", "exec", "exec_static")
# Counts of one program repeat to about 5 instructions either way.
REPEATS = 10


class Unusable(Exception):
    """What was printed is no complete run."""


class Run:
    """value[scene][operation], net of the empty loop; program[scene][operation][name]."""

    def __init__(self, lines):
        self.info, self.value, self.program = {}, {}, {}
        for line in lines:
            word = line.split()
            if word[:1] == ["info"] and len(word) == 3:
                self.info[word[1]] = word[2]
            elif word[:1] == ["value"] and len(word) == 4:
                self.value.setdefault(word[1], {})[word[2]] = float(word[3])
            elif word[:1] == ["program"] and len(word) == 6:
                place = self.program.setdefault(word[1], {}).setdefault(word[2], {})
                place[word[3]] = (float(word[4]), float(word[5]))
            else:
                raise Unusable(f"not a line of figures: {line.rstrip()}")
        for scene in ("native", "landlock") + SCENES:
            counts = self.value.get(scene, {})
            missing = [o for o in ("nothing",) + OPERATIONS if o not in counts]
            if missing:
                raise Unusable(f"{scene}: no figure for {', '.join(missing)}")
            empty = counts.pop("nothing")
            for operation in counts:
                counts[operation] -= empty
        if "release" not in self.info:
            raise Unusable("the kernel's release is missing")

    @property
    def release(self):
        return self.info["release"]

    def added(self, scene, operation):
        return self.value[scene][operation] - self.value["native"][operation]

    def ratio(self, scene, operation):
        """Count over native count; a denial's over the same open when it is allowed."""
        native = "allowed" if operation == "denied" else operation
        return self.value[scene][operation] / self.value["native"][native]

    def ratios(self):
        return {
            scene: {
                operation: round(self.ratio(scene, operation), 5)
                for operation in OPERATIONS + (("denied",) if scene != "outside" else ())
            }
            for scene in SCENES
        }

    def hooks(self, scene, operation):
        """Programs that run in one operation of a task; iso_bpf runs for who measures."""
        ran = self.program.get(scene, {}).get(operation, {})
        return sum(runs for name, (runs, _) in ran.items() if name != "iso_bpf" and runs > 0.1)

    def event(self, scene):
        """What a denial's event costs over the check, inside of the program that decides."""
        denied, allowed = (
            self.program[scene].get(operation, {}).get("iso_file_open", (0, 0))[1]
            for operation in ("denied", "allowed")
        )
        return denied - allowed


def goals(run):
    """Rows of (what, figure, limit, unit); a figure of None cannot be had on this kernel."""
    rows = []
    for operation in FREE:
        rows.append((f"{operation} outside", abs(run.added("outside", operation)), REPEATS, ""))
    for operation in ("open2", "connect"):
        hooks = run.hooks("outside", operation)
        figure = run.added("outside", operation) / hooks if hooks else None
        rows.append((f"{operation} outside, for each hook", figure, 220, ""))
    for scene in ("inside", "inside10000"):
        landlock = run.added("landlock", "open7")
        rows.append((f"open7 {scene} / Landlock", run.added(scene, "open7") / landlock, 0.70, "x"))
        # Landlock has network rules from 6.7 on.
        landlock = run.added("landlock", "connect")
        figure = run.added(scene, "connect") / landlock if landlock > REPEATS else None
        rows.append((f"connect {scene} / Landlock", figure, 1.0, "x"))
    for scene in ("outside", "inside"):
        rows.append((f"fork+exec {scene} / native", run.ratio(scene, "exec"), 1.01, "x"))
    rows.append(("a denial's event over the check", run.event("inside"), 260, ""))
    return rows


def met(figure, limit):
    return None if figure is None else figure <= limit
