//! The MQTT session state machine: no sockets, no clock.
