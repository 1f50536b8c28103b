#!/bin/sh
# Installs the brokers that `tidegate bench peers` compares with. Does nothing that is done already.
#
#   bench/setup.sh              mosquitto, from the distribution
#   bench/setup.sh --rumqttd    also rumqttd, from crates.io (builds for a few minutes)
#   bench/setup.sh --nats       also nats-server, by Go
#
# What is built goes to .work/bin in the working copy, where the bench looks besides PATH.
set -eu

RUMQTTD_VERSION=0.20.0
NATS_VERSION=v2.15.2

root=$(cd "$(dirname "$0")/.." && pwd)
work=$root/.work

if ! command -v mosquitto >/dev/null && ! [ -x /usr/sbin/mosquitto ]; then
    if ! command -v apt-get >/dev/null; then
        echo "mosquitto is not installed, and this is not Debian: install it by hand" >&2
        exit 1
    fi
    apt-get update
    # The service that the package would start is not wanted.
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends mosquitto
fi

for want in "$@"; do
    case $want in
    --rumqttd)
        if ! [ -x "$work/bin/rumqttd" ]; then
            # Not --locked: the metrics 0.22.1 of its lock file does not compile with Rust 1.95.
            cargo install rumqttd --version "$RUMQTTD_VERSION" --root "$work"
        fi
        ;;
    --nats)
        if ! [ -x "$work/bin/nats-server" ]; then
            if ! command -v go >/dev/null; then
                echo "nats-server needs Go, which is not installed" >&2
                exit 1
            fi
            GOBIN=$work/bin go install "github.com/nats-io/nats-server/v2@$NATS_VERSION"
        fi
        ;;
    *)
        echo "unknown argument $want: use --rumqttd, --nats or nothing" >&2
        exit 2
        ;;
    esac
done
