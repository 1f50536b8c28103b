# Every target does its own set-up and can be run again at any time.
.PHONY: setup modules build test lint demo interop clean

# What a bare Debian machine with rustup and Python 3 still lacks.
setup:
	@.ci/setup

# The components of modules/, for the broker's tests and the demo.
modules: setup
	cargo build --release --target wasm32-wasip2 --manifest-path modules/Cargo.toml

build: setup
	cargo build --release -p tidegate-broker

# Everything that needs no outside server.
test: modules
	cargo test --workspace
	cargo test --manifest-path sdk-rust/Cargo.toml --workspace
	cargo test --manifest-path modules/Cargo.toml --workspace
	cd examples/telemetry && python3 -m unittest

# Formatting, lints, documentation.
lint: setup
	.ci/lint

# Real measurements from an MQTT client through a rule to rows. KEEP=1 leaves it running.
demo:
	@examples/telemetry/run.sh

# Clients of others (paho-mqtt, mosquitto's where installed) across workers, both versions, every QoS.
interop: build
	@.ci/venv
	.work/venv/bin/python host/broker/tests/interop/run.py

clean:
	cargo clean
	rm -rf .work modules/target sdk-rust/target
