#!/bin/sh
# Sets up what the demo needs, builds it and runs it. Everything it makes lies in .work/ and target/ folders.
set -eu
cd "$(dirname "$0")/../.."

need() {
    command -v "$1" >/dev/null 2>&1 || { echo "the demo needs $1: $2" >&2; exit 1; }
}

wasm_target() {
    # Without rustup the toolchain's own packages must bring the target; cargo says so if they do not.
    command -v rustup >/dev/null 2>&1 || return 0
    rustup show active-toolchain >/dev/null 2>&1 || rustup toolchain install
    rustup target list --installed | grep -qx wasm32-wasip2 || rustup target add wasm32-wasip2
}

need cargo "see https://rustup.rs"
need python3 "version 3.10 or later"
mkdir -p .work
.ci/venv
wasm_target
cargo build --release -p tidegate-broker
(cd modules && cargo build --release --target wasm32-wasip2 -p telemetry -p telemetry-1-1-0)
exec .work/venv/bin/python examples/telemetry/run.py "$@"
