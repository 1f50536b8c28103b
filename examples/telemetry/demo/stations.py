"""Weather stations and the alarm line, as clients of Eclipse Paho, which shares no code with the broker.

Counts what was sent and what was acknowledged. Does not know the admin API or the database.
"""

import csv
import json
import threading
import time

import paho.mqtt.client as mqtt

# Messages of one client on the way at once.
WINDOW = 200
# How long the year lasts, where the machine can keep up: long enough to see it pass, and the swap within it.
SECONDS = 6
# What a broken sensor sends. Nobody measured these: they are here to be refused.
OUT_OF_RANGE = json.dumps({"station": "broken-sensor", "time": "never", "temperature": 999.9, "unit": "F"}).encode()
GARBLED = b"broken-sensor 39.2F \xff"


def readings(path):
    """[(station, time, degrees Fahrenheit as written)], hour by hour."""
    with open(path, newline="") as file:
        rows = csv.DictReader(file)
        stations = [name for name in rows.fieldnames if name != "time"]
        return [(station, row["time"], row[station]) for row in rows for station in stations]


def payload(station, measured_at, fahrenheit):
    # The number goes out as it was written: no rounding on the way.
    return f'{{"station":"{station}","time":"{measured_at}","temperature":{fahrenheit},"unit":"F"}}'.encode()


def connect(client, port):
    """Connects and waits until the broker has accepted."""
    accepted = threading.Event()
    refusal = []

    def on_connect(_client, _userdata, _flags, reason_code, _properties):
        if reason_code.is_failure:
            refusal.append(str(reason_code))
        accepted.set()

    client.on_connect = on_connect
    client.connect("127.0.0.1", port)
    client.loop_start()
    if not accepted.wait(10) or refusal:
        raise ConnectionError(f"the broker does not accept an MQTT client: {refusal or 'no CONNACK in 10 s'}")


class Station(threading.Thread):
    """One client that publishes its messages in order at QoS 1 over `SECONDS`, `WINDOW` unacknowledged at most."""

    def __init__(self, name, protocol, port, messages):
        super().__init__(name=name, daemon=True)
        self.topic = f"stations/{name.rsplit('/', 1)[0]}/telemetry"
        self.messages = messages
        self.sent = self.refused = 0
        self.acknowledged_at = []
        self.failure = None
        # Set to let the last quarter go: so there are messages left for the new module, however slow its deployment was.
        self.last_quarter = threading.Event()
        self.ended = False
        self.room = threading.Semaphore(WINDOW)
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=name.replace("/", "-"), protocol=protocol)
        self.client.max_inflight_messages_set(WINDOW)
        self.client.on_publish = self.on_publish
        self.client.on_disconnect = self.on_disconnect
        connect(self.client, port)

    @property
    def acknowledged(self):
        return len(self.acknowledged_at)

    def on_publish(self, _client, _userdata, _mid, reason_code, _properties):
        if reason_code.is_failure:
            self.refused += 1
        else:
            self.acknowledged_at.append(time.monotonic())
        self.room.release()

    def on_disconnect(self, _client, _userdata, _flags, reason_code, _properties):
        if not self.ended:
            self.failure = f"{self.name} was disconnected: {reason_code}"

    def run(self):
        held_from = len(self.messages) * 3 // 4
        started = time.monotonic()
        for position, message in enumerate(self.messages):
            if position == held_from:
                self.last_quarter.wait()
            ahead = started + SECONDS * position / len(self.messages) - time.monotonic()
            # Many small sleeps cost more than they are worth.
            if ahead > 0.01:
                time.sleep(ahead)
            self.room.acquire()
            if self.ended:
                return
            self.client.publish(self.topic, message, qos=1)
            self.sent += 1

    @property
    def done(self):
        return self.acknowledged + self.refused == len(self.messages)

    def end(self):
        self.ended = True
        self.last_quarter.set()
        self.room.release()
        self.client.disconnect()
        self.client.loop_stop()


class AlarmLine:
    """One MQTT 5.0 client that listens to all alarms at QoS 1."""

    def __init__(self, port):
        self.alarms = []
        subscribed = threading.Event()
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id="alarm-line", protocol=mqtt.MQTTv5)
        self.client.on_message = lambda _client, _userdata, message: self.alarms.append(json.loads(message.payload))
        self.client.on_subscribe = lambda *_: subscribed.set()
        connect(self.client, port)
        self.client.subscribe("alarms/#", qos=1)
        if not subscribed.wait(10):
            raise ConnectionError("no SUBACK for alarms/# in 10 s")

    def end(self):
        self.client.disconnect()
        self.client.loop_stop()
