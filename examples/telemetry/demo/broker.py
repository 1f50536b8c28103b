"""The broker under demonstration: its configuration, its process and its admin API.

Does not know MQTT or what is being demonstrated.
"""

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

METRIC = re.compile(r'^(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>[^}]*)\})? (?P<value>\S+)')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class DemoError(Exception):
    """The demo cannot go on; the text says why."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def configuration(text, replacements):
    """`text` with each key of `replacements` replaced; each must be there, so that the file and the demo stay in step."""
    for old, new in replacements.items():
        if old not in text:
            raise DemoError(f"the configuration no longer contains {old!r}")
        text = text.replace(old, new)
    return text


def parse_metrics(text):
    """Samples of a Prometheus text page: {(name, frozenset of label pairs): value}."""
    samples = {}
    for line in text.splitlines():
        found = METRIC.match(line)
        if found:
            labels = frozenset(LABEL.findall(found["labels"] or ""))
            samples[found["name"], labels] = float(found["value"])
    return samples


def by_label(samples, name, by, **labels):
    """Values of one metric by its label `by`, for the series with these other labels."""
    wanted = set(labels.items())
    return {
        dict(series)[by]: int(value)
        for (metric, series), value in samples.items()
        if metric == name and wanted <= series and by in dict(series)
    }


class Broker:
    """A broker process and its admin API."""

    def __init__(self, binary, config, admin_port, log):
        self.admin = f"http://127.0.0.1:{admin_port}"
        self.log = Path(log)
        # A session of its own: Ctrl-C reaches the demo alone, which then ends the broker in order.
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                [binary, "serve", "--config", config], stdout=output, stderr=output, start_new_session=True
            )

    def wait_until_healthy(self, seconds=20):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.check_running()
            try:
                with urllib.request.urlopen(self.admin + "/healthz", timeout=1):
                    return
            except OSError:
                time.sleep(0.02)
        raise DemoError(f"the broker does not answer {self.admin}/healthz after {seconds} s")

    def check_running(self):
        if self.process.poll() is not None:
            tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])
            raise DemoError(f"the broker ended with status {self.process.returncode}; its log ends with:\n{tail}")

    def upload(self, module, version, component):
        self.call("PUT", f"/api/v1/modules/{module}/versions/{version}", component, "application/wasm")

    def activate(self, module, version):
        body = json.dumps({"version": version}).encode()
        self.call("POST", f"/api/v1/modules/{module}/activate", body, "application/json")

    def metrics(self):
        return parse_metrics(self.call("GET", "/metrics").decode())

    def call(self, method, path, body=None, content_type=None):
        headers = {"Content-Type": content_type} if content_type else {}
        request = urllib.request.Request(self.admin + path, data=body, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=120) as response:
                return response.read()
        except urllib.error.HTTPError as error:
            raise DemoError(f"{method} {path}: {error.code} {problem(error.read())}") from error
        except OSError as error:
            self.check_running()
            raise DemoError(f"{method} {path}: {error}") from error

    def stop(self, seconds=15):
        stop(self.process.pid, seconds, self.process.poll)


def problem(body):
    """What an error answer says: the detail of a problem document (RFC 9457), or the answer as it is."""
    try:
        return json.loads(body)["detail"]
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")


def stop(pid, seconds, ended):
    """Ends a process with SIGTERM, and with SIGKILL if it has not gone after `seconds`."""
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, signal_number)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if ended() is not None:
                return
            time.sleep(0.02)


def stop_kept(pid_file, config):
    """Ends the broker that an earlier run left running with this configuration, if it still does."""
    try:
        pid = int(Path(pid_file).read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return
    if str(config).encode() in command.split(b"\0"):
        print(f"ending the broker that an earlier run left running (process {pid})")
        stop(pid, 15, lambda: None if Path(f"/proc/{pid}").exists() else 0)
