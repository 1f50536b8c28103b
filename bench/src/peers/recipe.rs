//! How each peer is started: program, arguments, configuration file, and the settings that a report shows.
//!
//! Each peer gets what is best for it in these loads, and nothing that changes what it promises: no peer writes to
//! disk unless it cannot do without, queues are long enough for the load, logs are off.

mod floor;
mod mosquitto;
mod nats;
mod rumqttd;
mod tidegate;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;

/// A broker to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Peer {
    /// The bare server: what the kernel takes.
    Floor,
    /// Tidegate, as it is without a configuration file.
    Tidegate,
    /// Tidegate with this configuration file, under the name of the file.
    TidegateWith(PathBuf),
    /// Eclipse Mosquitto.
    Mosquitto,
    /// rumqttd.
    Rumqttd,
    /// nats-server with its MQTT gateway.
    Nats,
}

/// What a peer is started with.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Where its MQTT listener goes.
    pub mqtt: SocketAddr,
    /// A second free address, for peers that insist on an admin or client port.
    pub other: SocketAddr,
    /// A directory of its own.
    pub directory: PathBuf,
    /// Threads for those that can be told.
    pub workers: usize,
    /// The tidegate program.
    pub tidegate: PathBuf,
    /// Further arguments for tidegate.
    pub tidegate_args: Vec<String>,
}

/// How to start a peer.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// Program.
    pub program: PathBuf,
    /// Arguments.
    pub args: Vec<OsString>,
    /// Configuration file to write first.
    pub file: Option<(PathBuf, String)>,
    /// Name and version, by its own word.
    pub version: String,
    /// The settings, line by line, for the report.
    pub shown: Vec<String>,
}

/// A peer that is not on this machine, and how to get it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is not installed: {remedy}")]
pub struct Absent {
    /// Which.
    pub name: &'static str,
    /// How to get it.
    pub remedy: &'static str,
}

/// A peer by a name that none has.
#[derive(Debug, thiserror::Error)]
#[error("unknown peer {0:?}: use floor, tidegate, tidegate=CONFIG.toml, mosquitto, rumqttd or nats")]
pub struct UnknownPeer(String);

impl FromStr for Peer {
    type Err = UnknownPeer;

    fn from_str(text: &str) -> Result<Self, UnknownPeer> {
        match text {
            "floor" => Ok(Self::Floor),
            "tidegate" => Ok(Self::Tidegate),
            "mosquitto" => Ok(Self::Mosquitto),
            "rumqttd" => Ok(Self::Rumqttd),
            "nats" => Ok(Self::Nats),
            _ => match text.strip_prefix("tidegate=") {
                Some(config) if !config.is_empty() => Ok(Self::TidegateWith(config.into())),
                _ => Err(UnknownPeer(text.to_owned())),
            },
        }
    }
}

impl Peer {
    /// The name in tables.
    pub fn name(&self) -> String {
        match self {
            Self::Floor => "floor".to_owned(),
            Self::Tidegate => "tidegate".to_owned(),
            Self::TidegateWith(config) => {
                let stem = config
                    .file_stem()
                    .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
                format!("tidegate={stem}")
            }
            Self::Mosquitto => "mosquitto".to_owned(),
            Self::Rumqttd => "rumqttd".to_owned(),
            Self::Nats => "nats".to_owned(),
        }
    }

    /// How to start it.
    pub fn recipe(&self, setting: &Setting) -> Result<Recipe, Absent> {
        match self {
            Self::Floor => floor::recipe(setting),
            Self::Tidegate => tidegate::recipe(setting, None),
            Self::TidegateWith(config) => tidegate::recipe(setting, Some(config)),
            Self::Mosquitto => mosquitto::recipe(setting),
            Self::Rumqttd => rumqttd::recipe(setting),
            Self::Nats => nats::recipe(setting),
        }
    }
}

/// Finds `name` in PATH, or where this project's set-up script puts what it builds.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin"), PathBuf::from(".work/bin")]);
    places.map(|place| place.join(name)).find(|file| file.is_file())
}

/// The first line that `program` prints about itself.
fn first_line(program: &Path, arg: &str) -> String {
    let output = Command::new(program).arg(arg).stdin(Stdio::null()).output();
    let text = output
        .map(|output| [output.stdout, output.stderr].concat())
        .unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("version unknown");
    line.trim().to_owned()
}

fn lines(text: &str) -> Vec<String> {
    text.lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_named() {
        assert_eq!(
            "tidegate=rules/pass.toml".parse::<Peer>().unwrap().name(),
            "tidegate=pass"
        );
        for name in ["floor", "tidegate", "mosquitto", "rumqttd", "nats"] {
            assert_eq!(name.parse::<Peer>().unwrap().name(), name);
        }
        let text = "emqx".parse::<Peer>().unwrap_err().to_string();
        assert!(text.contains("emqx") && text.contains("mosquitto"), "{text}");
    }

    #[test]
    fn what_is_not_installed_says_how_to_get_it() {
        assert_eq!(find("no-such-program-anywhere"), None);
        let absent = Absent {
            name: "x",
            remedy: "install x",
        };
        assert_eq!(absent.to_string(), "x is not installed: install x");
    }
}
