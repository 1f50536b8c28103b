"""The arithmetic over a run: every message that went in must be found again, by count and by name.

Pure: numbers in, lines out. Each line is an equation; one that does not hold is a MISMATCH, and the run has failed.
"""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Run:
    """What was counted in one run, by whom."""

    # by the clients
    published: int
    acknowledged: int
    refused: int
    out_of_range: int
    garbled: int
    alarms_received: int
    # by the broker
    rule: dict
    effects: dict
    sink: dict
    sink_pending: int
    # by queries: (station, time) as often as it is stored, and the rest as counts
    stored: Counter
    distinct_ids: int
    rows_by_version: dict
    rows_in_alarm: int
    # (station, time) as published by the working sensors
    measured: Counter = field(default_factory=Counter)


@dataclass
class Line:
    """One equation: the sums of both sides, with the names of what was added."""

    left: dict
    right: dict

    @property
    def holds(self):
        return sum(self.left.values()) == sum(self.right.values())

    def __str__(self):
        sides = (" + ".join(f"{name} {value:,}" for name, value in side.items()) for side in (self.left, self.right))
        return f"  {'OK      ' if self.holds else 'MISMATCH'}  {' = '.join(sides)}"


RULE_OUTCOMES = ("passed", "dropped", "rejected", "dead_lettered", "failed")
SINK_OUTCOMES = ("delivered", "dead_lettered", "refused", "dropped", "expired")


def lines(run):
    """All equations of a run."""
    rows = run.stored.total()
    sink_ends = {name.replace("_", "-"): run.sink.get(name, 0) for name in SINK_OUTCOMES}
    return [
        Line({"published": run.published}, {"acknowledged": run.acknowledged, "refused": run.refused}),
        Line({"acknowledged": run.acknowledged}, {"matched by the rule": run.rule.get("matched", 0)}),
        Line(
            {"matched": run.rule.get("matched", 0)},
            {name.replace("_", "-"): run.rule.get(name, 0) for name in RULE_OUTCOMES},
        ),
        Line({"out of range, sent by the broken sensor": run.out_of_range}, {"dropped": run.rule.get("dropped", 0)}),
        Line({"garbled, sent by the broken sensor": run.garbled}, {"dead-lettered": run.rule.get("dead_lettered", 0)}),
        Line({"passed": run.rule.get("passed", 0)}, {"emitted": run.effects.get("emit", 0)}),
        Line({"emitted": run.effects.get("emit", 0)}, {"accepted by the sink": run.sink.get("accepted", 0)}),
        Line({"accepted": run.sink.get("accepted", 0)}, {**sink_ends, "pending": run.sink_pending}),
        Line({"delivered": run.sink.get("delivered", 0)}, {"rows": rows}),
        Line({"rows": rows}, {"distinct ids": run.distinct_ids}),
        Line({"rows": rows}, {f"by version {version}": n for version, n in sorted(run.rows_by_version.items())}),
        Line({"measured and not stored": (run.measured - run.stored).total()}, {"none": 0}),
        Line({"stored and not measured, or twice": (run.stored - run.measured).total()}, {"none": 0}),
        Line({"alarms published": run.effects.get("publish", 0)}, {"alarms received": run.alarms_received}),
        Line({"alarms received": run.alarms_received}, {"rows in alarm": run.rows_in_alarm}),
        Line({"versions of the module in the rows": len(run.rows_by_version)}, {"versions deployed": 2}),
    ]
