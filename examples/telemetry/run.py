"""The demo: measured temperatures from MQTT clients through a Wasm rule into rows, a swap on the way, and the arithmetic.

Run it with `make demo` (or run.sh, which builds first). `make demo KEEP=1` leaves the broker running. Exits 0 if everything adds
up and 1 if not; DEMO_DELETE_ROW=1 (or --tamper) deletes one row before counting, to show that it does not add up then.
"""

import argparse
import os
import shutil
import signal
import sqlite3
import sys
import time
from collections import Counter
from pathlib import Path

import paho.mqtt.client as mqtt

from demo import broker as tidegate
from demo import stations
from demo.reconcile import Run, lines

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/telemetry"
RUN = ROOT / ".work/demo"
DATABASE = RUN / "readings.db"
COMPONENTS = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "modules/target")) / "wasm32-wasip2/release"
BINARY = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/tidegate"

# As configured in tidegate.toml.
ALARM_BELOW, ALARM_ABOVE = 4, 23
OUT_OF_RANGE, GARBLED = 40, 25
# An acknowledgement must come at least this often while messages are on their way.
STALL_SECONDS = 20


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--tamper", action="store_true", default=asked("DEMO_DELETE_ROW"),
                           help="delete one row before counting: the demo must then fail")
    arguments.add_argument("--keep", action="store_true", default=asked("KEEP"),
                           help="leave the broker running and print its addresses")
    options = arguments.parse_args()
    # Also where a shell started this in the background, with Ctrl-C ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    clients, broker = [], None
    try:
        broker, port = start()
        run = demonstrate(broker, port, clients, options.tamper)
        adds_up = report(run)
        if options.keep:
            keep(broker, port)
            broker = None
        return 0 if adds_up else 1
    except (tidegate.DemoError, ConnectionError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        for client in clients:
            client.end()
        if broker:
            broker.stop()


def asked(variable):
    return os.environ.get(variable, "0") not in ("", "0")


def start():
    """Starts a broker on free ports, with an empty directory, and deploys version 1.0.0."""
    config, pid_file = RUN / "tidegate.toml", RUN / "tidegate.pid"
    tidegate.stop_kept(pid_file, config)
    shutil.rmtree(RUN, ignore_errors=True)
    RUN.mkdir(parents=True)
    port, admin_port = tidegate.free_port(), tidegate.free_port()
    config.write_text(tidegate.configuration((EXAMPLE / "tidegate.toml").read_text(), {
        "127.0.0.1:1883": f"127.0.0.1:{port}",
        "127.0.0.1:8080": f"127.0.0.1:{admin_port}",
        ".work/telemetry": str(RUN),
    }))
    broker = tidegate.Broker(BINARY, config, admin_port, RUN / "tidegate.log")
    try:
        pid_file.write_text(str(broker.process.pid))
        broker.wait_until_healthy()
        print(f"broker      mqtt://127.0.0.1:{port}, admin {broker.admin}")
        deploy(broker, "1.0.0", "telemetry.wasm")
    except BaseException:
        broker.stop()
        raise
    return broker, port


def deploy(broker, version, file):
    component = (COMPONENTS / file).read_bytes()
    started = time.monotonic()
    broker.upload("telemetry", version, component)
    uploaded = time.monotonic()
    broker.activate("telemetry", version)
    ended = time.monotonic()
    print(f"module      telemetry {version}, {len(component) // 1024} KiB: uploaded and compiled in "
          f"{(uploaded - started) * 1000:.0f} ms, active after {(ended - uploaded) * 1000:.0f} ms")
    return uploaded, ended


def demonstrate(broker, port, clients, tamper):
    """Publishes everything, swaps the module on the way, and counts."""
    readings = stations.readings(EXAMPLE / "data/temperatures.csv")
    alarm_line = stations.AlarmLine(port)
    clients.append(alarm_line)
    fleet = make_fleet(port, readings, clients)
    total = sum(len(station.messages) for station in fleet)
    print(f"stations    {len(fleet)} MQTT clients with {len(readings):,} hourly readings in °F, "
          f"and {OUT_OF_RANGE + GARBLED} messages of a broken sensor")
    for station in fleet:
        station.start()
    progress(broker, fleet, alarm_line, total, until=lambda: acknowledged(fleet) >= total // 3)
    swap(broker, fleet)
    for station in fleet:
        station.last_quarter.set()
    progress(broker, fleet, alarm_line, total, until=lambda: all(station.done for station in fleet))
    await_alarms(alarm_line)
    if tamper:
        delete_row()
    return count(broker, fleet, alarm_line, readings)


def make_fleet(port, readings, clients):
    """Two clients a station, one of each protocol version, and the broken sensor."""
    fleet = []
    for name in dict.fromkeys(station for station, _, _ in readings):
        own = [stations.payload(*reading) for reading in readings if reading[0] == name]
        for part, protocol in enumerate((mqtt.MQTTv5, mqtt.MQTTv311)):
            fleet.append(stations.Station(f"{name}/{part}", protocol, port, own[part::2]))
            clients.append(fleet[-1])
    broken = [stations.OUT_OF_RANGE] * OUT_OF_RANGE + [stations.GARBLED] * GARBLED
    fleet.append(stations.Station("broken-sensor/0", mqtt.MQTTv311, port, broken))
    clients.append(fleet[-1])
    return fleet


def acknowledged(fleet):
    return sum(station.acknowledged for station in fleet)


def progress(broker, fleet, alarm_line, total, until):
    """Prints a line a second until `until`, and fails when nothing moves any more."""
    before, printed_at, moved_at = acknowledged(fleet), time.monotonic(), time.monotonic()
    seen = before
    while not until():
        broker.check_running()
        for station in fleet:
            if station.failure:
                raise tidegate.DemoError(station.failure)
        time.sleep(0.02)
        now, done = time.monotonic(), acknowledged(fleet)
        if done != seen:
            seen, moved_at = done, now
        elif now - moved_at > STALL_SECONDS:
            raise tidegate.DemoError(f"no acknowledgement for {STALL_SECONDS} s at {done:,} of {total:,}")
        if now - printed_at >= 1:
            rate = (done - before) / (now - printed_at)
            print(f"  {done:>7,} of {total:,} acknowledged, {rate:>6,.0f} a second, {len(alarm_line.alarms)} alarms")
            before, printed_at = done, now


def swap(broker, fleet):
    """Replaces the module while messages flow, and says what the publishers saw of it."""
    before = acknowledged(fleet)
    activated, ended = deploy(broker, "1.1.0", "telemetry_1_1_0.wasm")
    # Half a second around the switch, as far as there was traffic.
    times = sorted(at for station in fleet for at in list(station.acknowledged_at) if activated - 0.25 <= at <= ended)
    pause = max((later - earlier for earlier, later in zip(times, times[1:])), default=0)
    print(f"swapped     while {acknowledged(fleet) - before:,} messages were acknowledged; "
          f"longest wait between two of them {pause * 1000:.1f} ms")


def await_alarms(alarm_line, seconds=10):
    """Alarms may still be on their way when the last acknowledgement is in: waits for as many as the rows say."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and len(alarm_line.alarms) < rows_in_alarm():
        time.sleep(0.02)


def query(statement):
    with sqlite3.connect(f"file:{DATABASE}?mode=ro", uri=True) as database:
        return database.execute(statement).fetchall()


def rows_in_alarm():
    return query(f"SELECT count(*) FROM readings WHERE celsius < {ALARM_BELOW} OR celsius > {ALARM_ABOVE}")[0][0]


def delete_row():
    with sqlite3.connect(DATABASE, timeout=10) as database:
        database.execute("DELETE FROM readings WHERE id = (SELECT max(id) FROM readings)")
    print("tampered    one row deleted")


def count(broker, fleet, alarm_line, readings):
    """Everything that was counted, by everybody who counts."""
    samples = broker.metrics()
    pending = samples.get(("tidegate_sink_pending", frozenset({("sink", "rows")})))
    if pending is None:
        raise tidegate.DemoError('/metrics has no tidegate_sink_pending{sink="rows"}')
    return Run(
        published=sum(station.sent for station in fleet),
        acknowledged=acknowledged(fleet),
        refused=sum(station.refused for station in fleet),
        out_of_range=OUT_OF_RANGE,
        garbled=GARBLED,
        alarms_received=len(alarm_line.alarms),
        rule=tidegate.by_label(samples, "tidegate_rule_messages_total", "outcome", rule="telemetry"),
        effects=tidegate.by_label(samples, "tidegate_rule_effects_total", "effect", rule="telemetry"),
        sink=tidegate.by_label(samples, "tidegate_sink_records_total", "outcome", sink="rows"),
        sink_pending=int(pending),
        stored=Counter(query("SELECT station, time FROM readings")),
        distinct_ids=query("SELECT count(DISTINCT id) FROM readings")[0][0],
        rows_by_version=dict(query("SELECT module_version, count(*) FROM readings GROUP BY 1")),
        rows_in_alarm=rows_in_alarm(),
        measured=Counter((station, measured_at) for station, measured_at, _ in readings),
    )


def report(run):
    """Prints rows of both versions and the arithmetic; whether all of it holds."""
    print("\nrows in SQLite, first and last of each version of the module")
    columns = "station, time, celsius, heating_degrees, module_version, client_id"
    sample = query(
        f"SELECT {columns} FROM readings WHERE rowid IN (SELECT min(rowid) FROM readings GROUP BY module_version "
        "UNION SELECT max(rowid) FROM readings GROUP BY module_version) ORDER BY rowid"
    )
    for row in [columns.split(", "), *sample]:
        print("  " + "".join(f"{'' if value is None else value!s:<24}" for value in row).rstrip())
    equations = lines(run)
    print("\nreconciliation")
    for line in equations:
        print(line)
    wrong = sum(not line.holds for line in equations)
    print(f"\n{'everything adds up' if not wrong else f'{wrong} of {len(equations)} equations do not hold'}")
    return not wrong


def keep(broker, port):
    print(f"""
still running
  MQTT      127.0.0.1:{port}       mosquitto_sub -p {port} -t 'alarms/#' -v
  admin     {broker.admin}  curl {broker.admin}/metrics
  database  {DATABASE}
  stop it   kill {broker.process.pid}""")


if __name__ == "__main__":
    sys.exit(main())
