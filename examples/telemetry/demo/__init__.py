"""The parts of the telemetry demo: the broker, the stations, the alarm line, and the arithmetic over all of them."""
