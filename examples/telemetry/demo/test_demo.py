"""What the demo's verdict rests on: run with `python3 -m unittest discover -s examples/telemetry -t examples/telemetry`."""

import copy
import unittest
from collections import Counter

from demo.broker import DemoError, by_label, configuration, parse_metrics
from demo.reconcile import Run, lines


def good_run():
    measured = Counter({("seattle", f"{hour}"): 1 for hour in range(10)})
    return Run(
        published=15,
        acknowledged=15,
        refused=0,
        out_of_range=3,
        garbled=2,
        alarms_received=4,
        rule={"matched": 15, "passed": 10, "dropped": 3, "rejected": 0, "dead_lettered": 2, "failed": 0},
        effects={"publish": 4, "emit": 10},
        sink={"accepted": 10, "delivered": 10, "dead_lettered": 0, "dropped": 0, "expired": 0},
        sink_pending=0,
        stored=Counter(measured),
        distinct_ids=10,
        rows_by_version={"1.0.0": 6, "1.1.0": 4},
        rows_in_alarm=4,
        measured=measured,
    )


class Reconciliation(unittest.TestCase):
    def mismatches(self, change):
        run = copy.deepcopy(good_run())
        change(run)
        return [str(line) for line in lines(run) if not line.holds]

    def test_a_good_run_adds_up(self):
        self.assertEqual(self.mismatches(lambda run: None), [])

    def test_a_deleted_row_is_missed_by_count_and_by_name(self):
        def delete(run):
            del run.stored["seattle", "3"]
            run.distinct_ids -= 1
            run.rows_by_version["1.0.0"] -= 1

        found = self.mismatches(delete)
        self.assertEqual(
            found,
            [
                "  MISMATCH  delivered 10 = rows 9",
                "  MISMATCH  measured and not stored 1 = none 0",
            ],
        )

    def test_a_row_exchanged_for_another_is_missed_by_name(self):
        def exchange(run):
            run.stored["seattle", "3"] = 0
            run.stored["seattle", "4"] = 2

        found = self.mismatches(exchange)
        self.assertEqual(len(found), 2, found)

    def test_each_count_matters(self):
        for name in ("published", "acknowledged", "out_of_range", "garbled", "alarms_received", "sink_pending",
                     "distinct_ids", "rows_in_alarm"):
            with self.subTest(name):
                self.assertTrue(self.mismatches(lambda run: setattr(run, name, getattr(run, name) + 1)))
        for counts in ("rule", "effects", "sink"):
            for name in getattr(good_run(), counts):
                with self.subTest(f"{counts} {name}"):
                    self.assertTrue(self.mismatches(lambda run: getattr(run, counts).update({name: 99})))

    def test_a_swap_that_did_not_happen_is_a_mismatch(self):
        found = self.mismatches(lambda run: setattr(run, "rows_by_version", {"1.0.0": 10}))
        self.assertEqual(found, ["  MISMATCH  versions of the module in the rows 1 = versions deployed 2"])


class Metrics(unittest.TestCase):
    PAGE = """# HELP tidegate_rule_messages Messages by rule and outcome.
# TYPE tidegate_rule_messages counter
tidegate_rule_messages_total{rule="telemetry",outcome="matched"} 15
tidegate_rule_messages_total{outcome="passed",rule="telemetry"} 10
tidegate_rule_messages_total{rule="other",outcome="passed"} 99
tidegate_sink_pending{sink="rows"} 0
tidegate_connections 3
# EOF
"""

    def test_outcomes_are_read_by_label(self):
        samples = parse_metrics(self.PAGE)
        found = by_label(samples, "tidegate_rule_messages_total", "outcome", rule="telemetry")
        self.assertEqual(found, {"matched": 15, "passed": 10})
        self.assertEqual(samples["tidegate_connections", frozenset()], 3)
        self.assertEqual(samples["tidegate_sink_pending", frozenset({("sink", "rows")})], 0)


class Configuration(unittest.TestCase):
    def test_what_is_replaced_must_be_there(self):
        self.assertEqual(configuration('bind = "a:1"', {"a:1": "b:2"}), 'bind = "b:2"')
        with self.assertRaisesRegex(DemoError, "no longer contains 'a:3'"):
            configuration('bind = "a:1"', {"a:3": "b:2"})


if __name__ == "__main__":
    unittest.main()
