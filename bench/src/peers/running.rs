//! A peer's process, from start to end.
//!
//! Invariant: the process and its directory are gone when this is dropped.

use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use super::{Absent, Peer, Recipe, Setting};
use crate::clock::{self, SECOND};
use crate::measure::{Cores, Watch};

/// How long a peer may take until it accepts connections.
const READY_MAX: u64 = 20 * SECOND;
const READY_POLL: Duration = Duration::from_millis(20);

/// Why a peer does not run.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It is not there.
    #[error(transparent)]
    Absent(#[from] Absent),
    /// Its directory, file or process could not be made.
    #[error("{peer} cannot be started ({program}): {source}")]
    Start {
        /// Which.
        peer: String,
        /// Its program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It ended, or does not listen.
    #[error("{peer} did not accept connections on {address} within 20 s; it wrote:\n{output}")]
    NotReady {
        /// Which.
        peer: String,
        /// Where it should listen.
        address: SocketAddr,
        /// The end of its output.
        output: String,
    },
}

/// What all peers of a comparison are started with.
#[derive(Debug, Clone)]
pub struct Stage {
    /// Cores for brokers; empty for any.
    pub cores: Cores,
    /// Threads for those that can be told.
    pub workers: usize,
    /// The tidegate program.
    pub tidegate: PathBuf,
    /// Further arguments for it.
    pub tidegate_args: Vec<String>,
}

/// A running peer.
#[derive(Debug)]
pub struct Running {
    /// Where it accepts MQTT.
    pub address: SocketAddr,
    /// How it was started.
    pub recipe: Recipe,
    child: Child,
    directory: PathBuf,
}

impl Running {
    /// Starts `peer` and waits until it accepts connections.
    pub fn start(peer: &Peer, stage: &Stage) -> Result<Self, StartError> {
        let failed = |program: &Path| {
            let (peer, program) = (peer.name(), program.to_owned());
            move |source| StartError::Start {
                peer,
                program,
                source,
            }
        };
        let directory = own_directory().map_err(failed(Path::new("directory")))?;
        let (mqtt, other) = free_addresses().map_err(failed(Path::new("ports")))?;
        let setting = Setting {
            mqtt,
            other,
            directory: directory.clone(),
            workers: stage.workers,
            tidegate: stage.tidegate.clone(),
            tidegate_args: stage.tidegate_args.clone(),
        };
        let recipe = peer.recipe(&setting)?;
        let child = spawn(&recipe, &directory, &stage.cores).map_err(failed(&recipe.program))?;
        let mut running = Self {
            address: mqtt,
            recipe,
            child,
            directory,
        };
        match running.wait_until_ready() {
            true => Ok(running),
            false => Err(StartError::NotReady {
                peer: peer.name(),
                address: mqtt,
                output: running.last_output(),
            }),
        }
    }

    /// Its process, to be measured.
    pub fn watch(&self) -> Watch {
        Watch::new(self.child.id())
    }

    fn wait_until_ready(&mut self) -> bool {
        let deadline = clock::now() + READY_MAX;
        while clock::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return false;
            }
            if TcpStream::connect(self.address).is_ok() {
                return true;
            }
            thread::sleep(READY_POLL);
        }
        false
    }

    fn last_output(&self) -> String {
        let text = std::fs::read_to_string(self.directory.join("output.log")).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let from = lines.len().saturating_sub(10);
        lines.get(from..).unwrap_or_default().join("\n")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Whatever fails here was gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn spawn(recipe: &Recipe, directory: &Path, cores: &Cores) -> io::Result<Child> {
    if let Some((path, text)) = &recipe.file {
        std::fs::write(path, text)?;
    }
    let output = File::create(directory.join("output.log"))?;
    let errors = output.try_clone()?;
    let mut command = Command::new(&recipe.program);
    command
        .args(&recipe.args)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors);
    cores.pinned(|| command.spawn())
}

fn own_directory() -> io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!(
        "tidegate-bench-{}-{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    );
    let directory = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&directory)?;
    Ok(directory)
}

fn free_addresses() -> io::Result<(SocketAddr, SocketAddr)> {
    let (first, second) = (
        TcpListener::bind("127.0.0.1:0")?,
        TcpListener::bind("127.0.0.1:0")?,
    );
    Ok((first.local_addr()?, second.local_addr()?))
}
