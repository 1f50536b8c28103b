//! Eclipse Mosquitto, from the distribution. It has one thread, whatever is asked for.

use super::{Absent, Recipe, Setting, find, first_line, lines};

pub fn recipe(setting: &Setting) -> Result<Recipe, Absent> {
    let program = find("mosquitto").ok_or(Absent {
        name: "mosquitto",
        remedy: "run bench/setup.sh, or `apt-get install mosquitto`",
    })?;
    let config = "\
allow_anonymous true
persistence false
set_tcp_nodelay true
max_connections -1
max_inflight_messages 0
max_queued_messages 0
sys_interval 0
log_dest none
";
    let listener = format!("listener {} {}\n", setting.mqtt.port(), setting.mqtt.ip());
    let path = setting.directory.join("mosquitto.conf");
    Ok(Recipe {
        // It has no flag for its version, but begins its help with it.
        version: first_line(&program, "-h"),
        program,
        args: vec!["-c".into(), path.clone().into()],
        file: Some((path, listener + config)),
        shown: lines(config),
    })
}
