//! nats-server with its MQTT gateway, built by Go. Its gateway needs JetStream, which it keeps in a directory.

use super::{Absent, Recipe, Setting, find, first_line, lines};

pub fn recipe(setting: &Setting) -> Result<Recipe, Absent> {
    let program = find("nats-server").ok_or(Absent {
        name: "nats-server",
        remedy: "run bench/setup.sh --nats, which builds it with Go",
    })?;
    let settings = "\
server_name: bench
max_connections: 100000
write_deadline: \"60s\"
";
    let mqtt = "ack_wait: \"60s\", max_ack_pending: 65535";
    let config = format!(
        "listen: \"{}\"\n{settings}jetstream {{ store_dir: \"{}\" }}\nmqtt {{ listen: \"{}\", {mqtt} }}\n",
        setting.other,
        setting.directory.join("jetstream").display(),
        setting.mqtt,
    );
    let path = setting.directory.join("nats.conf");
    let mut shown = lines(settings);
    shown.push(format!("mqtt {{ {mqtt} }}"));
    Ok(Recipe {
        version: first_line(&program, "--version"),
        program,
        args: vec!["-c".into(), path.clone().into()],
        file: Some((path, config)),
        shown,
    })
}
