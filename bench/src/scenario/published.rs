//! The published figures that stand beside ours: EMQX on one node, by its makers, and what they come to per unit.

/// 5,000,000 connections on EMQX 5.0.21, 64 cores, 128 GB.
pub mod connections {
    /// Clients.
    pub const CLIENTS: u32 = 5_000_000;
    /// New connections a second.
    pub const PER_SECOND: u32 = 5_000;
    /// Keep-alive in seconds.
    pub const KEEP_ALIVE: u16 = 300;
    /// Length of the test in seconds.
    pub const HOLD_SECONDS: u64 = 30 * 60;
    /// Host.
    pub const HOST: &str = "EMQX 5.0.21, 64 cores, 128 GB";
    /// Cores of the host.
    pub const CORES: f64 = 64.0;
    /// Mean connect response time in microseconds.
    pub const CONNECT_US: f64 = 2_930.0;
    /// Mean share of the host's cores that was busy.
    pub const CPU_MEAN: f64 = 0.14;
    /// Highest share.
    pub const CPU_MAX: f64 = 0.40;
    /// Mean memory in use on the host, in bytes.
    pub const MEMORY_MEAN: f64 = 48.7e9;
    /// Highest memory in use on the host, in bytes.
    pub const MEMORY_MAX: f64 = 51.4e9;
}

/// Latency on EMQX 5.0.6, 2 cores, 4 GB: 1,000 publishers and 1,000 subscribers.
pub mod latency {
    /// Publishers, and as many subscribers.
    pub const CLIENTS: u32 = 1_000;
    /// Payload in bytes.
    pub const PAYLOAD_BYTES: usize = 50;
    /// Length of the test in seconds, for each QoS.
    pub const SECONDS: u64 = 30 * 60;
    /// Host.
    pub const HOST: &str = "EMQX 5.0.6, 2 cores, 4 GB";
    /// From a message's arrival in the broker to its departure, in microseconds, at QoS 0, 1, 2.
    pub const INSIDE_US: [f64; 3] = [48.0, 65.0, 70.0];
    /// "Response time" as its tool showed it, in microseconds.
    pub const RESPONSE_US: f64 = 1_700.0;
}
