"""Clients of others against a broker of three workers: paho-mqtt and mosquitto's, both versions, QoS 0, 1 and 2.

Every publisher and subscriber has an id of its own, so that they land on different workers. Exits 1 if a message is lost,
doubled or out of order. `make interop` sets it up and runs it.
"""

import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import paho.mqtt.client as mqtt

ROOT = Path(__file__).resolve().parents[4]
BINARY = ROOT / "target/release/tidegate"
MESSAGES = 50
DEADLINE = 20.0
VERSIONS = {"3.1.1": (mqtt.MQTTv311, "mqttv311"), "5.0": (mqtt.MQTTv5, "mqttv5")}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(directory):
    port, admin = free_port(), free_port()
    broker = subprocess.Popen(
        [BINARY, "serve", "--mqtt", f"127.0.0.1:{port}", "--admin", f"127.0.0.1:{admin}",
         "--data-dir", directory, "--workers", "3"], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{admin}/healthz", timeout=1).close()
            return broker, port
        except OSError:
            if broker.poll() is not None:
                break
    raise SystemExit("the broker does not start")


def connected(client_id, version, port):
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=client_id, protocol=version)
    ready = threading.Event()
    client.on_connect = lambda *_: ready.set()
    client.connect("127.0.0.1", port)
    client.loop_start()
    if not ready.wait(DEADLINE):
        raise SystemExit(f"{client_id} got no CONNACK")
    return client


def paho(name, publisher_version, subscriber_version, qos, port):
    """One subscriber, three publishers; each publisher's messages must come once and in order."""
    topic = f"paho/{name}"
    got, done, subscribed = [], threading.Event(), threading.Event()
    subscriber = connected(f"sub-{name}", subscriber_version, port)

    def on_message(_client, _userdata, message):
        got.append(message.payload.decode())
        if len(got) >= 3 * MESSAGES:
            done.set()

    subscriber.on_message = on_message
    subscriber.on_subscribe = lambda *_: subscribed.set()
    subscriber.subscribe(f"{topic}/+", qos)
    assert subscribed.wait(DEADLINE), "no SUBACK"
    publishers = [connected(f"pub-{number}-{name}", publisher_version, port) for number in range(3)]
    for number, publisher in enumerate(publishers):
        for index in range(MESSAGES):
            publisher.publish(f"{topic}/{number}", f"{number}:{index}", qos)
    done.wait(DEADLINE)
    for client in [subscriber, *publishers]:
        client.disconnect()
        client.loop_stop()
    for number in range(3):
        mine = [int(text.split(":")[1]) for text in got if text.startswith(f"{number}:")]
        if mine != list(range(MESSAGES)):
            return f"publisher {number}: {mine}"
    return None


def mosquitto(name, version, qos, port):
    """mosquitto_pub with one message per line of its input, mosquitto_sub counting; stdbuf shows its lines as they come."""
    topic = f"mosquitto/{name}"
    common = ["-V", version, "-p", str(port), "-q", str(qos), "-t", topic]
    subscriber = subprocess.Popen(
        ["stdbuf", "-oL", "mosquitto_sub", *common, "-i", f"msub-{name}", "-C", str(MESSAGES), "-W", str(int(DEADLINE)), "-d"],
        stdout=subprocess.PIPE, text=True)
    lines = []
    for line in subscriber.stdout:
        lines.append(line.strip())
        if line.startswith("Subscribed"):
            break
    text = "".join(f"{index}\n" for index in range(MESSAGES))
    subprocess.run(["mosquitto_pub", *common, "-i", f"mpub-{name}", "-l"], input=text, text=True, check=True)
    lines += [line.strip() for line in subscriber.stdout]
    subscriber.wait()
    numbers = [int(line) for line in lines if line.isdigit()]
    return None if numbers == list(range(MESSAGES)) else f"got {numbers}"


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as directory:
        broker, port = start(directory)
        try:
            for qos in (0, 1, 2):
                for publisher, (publisher_version, _) in VERSIONS.items():
                    for subscriber, (subscriber_version, _) in VERSIONS.items():
                        name = f"{publisher}-{subscriber}-{qos}"
                        failures += told(f"paho {publisher} to {subscriber}, QoS {qos}",
                                         paho(name, publisher_version, subscriber_version, qos, port))
                if shutil.which("mosquitto_pub"):
                    for version, (_, flag) in VERSIONS.items():
                        failures += told(f"mosquitto-clients {version}, QoS {qos}",
                                         mosquitto(f"{version}-{qos}", flag, qos, port))
        finally:
            broker.terminate()
            broker.wait()
    if not shutil.which("mosquitto_pub"):
        print("skipped mosquitto-clients: not installed (Debian: apt-get install mosquitto-clients)")
    print(f"{failures} failed")
    return 1 if failures else 0


def told(what, failure):
    print(f"{'FAILED' if failure else 'ok':7} {what}{': ' + failure if failure else ''}", flush=True)
    return 1 if failure else 0


if __name__ == "__main__":
    sys.exit(main())
