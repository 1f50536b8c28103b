//! rumqttd, from crates.io. Its thread count is its runtime's own.

use super::{Absent, Recipe, Setting, find, first_line, lines};

pub fn recipe(setting: &Setting) -> Result<Recipe, Absent> {
    let program = find("rumqttd").ok_or(Absent {
        name: "rumqttd",
        remedy: "run bench/setup.sh --rumqttd, which builds it (a few minutes)",
    })?;
    let config = format!(
        "\
id = 0

[router]
id = 0
max_connections = 100000
max_outgoing_packet_count = 1000
max_segment_size = 104857600
max_segment_count = 10

[v4.1]
name = \"v4-1\"
listen = \"{}\"
next_connection_delay_ms = 0

[v4.1.connections]
connection_timeout_ms = 60000
max_payload_size = 1048576
max_inflight_count = 1000
dynamic_filters = true
",
        setting.mqtt
    );
    let path = setting.directory.join("rumqttd.toml");
    Ok(Recipe {
        version: first_line(&program, "--version"),
        program,
        args: vec!["-c".into(), path.clone().into(), "-q".into()],
        shown: lines(&config)
            .into_iter()
            .filter(|line| !line.starts_with("listen"))
            .collect(),
        file: Some((path, config)),
    })
}
