#!/bin/sh
# Sets up what the demo needs, builds it and runs it. Everything it makes lies in .work/ and target/ folders.
set -eu
cd "$(dirname "$0")/../.."

.ci/setup
.ci/venv
cargo build --release -p tidegate-broker
(cd modules && cargo build --release --target wasm32-wasip2 -p telemetry -p telemetry-1-1-0)
exec .work/venv/bin/python examples/telemetry/run.py "$@"
