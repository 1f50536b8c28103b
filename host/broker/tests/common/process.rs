//! The `tidegate` command as a process of its own.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use super::wait_for;

/// A `tidegate serve` that has told its addresses; killed when dropped.
pub struct Process {
    child: Child,
    pub mqtt: SocketAddr,
    pub admin: SocketAddr,
}

/// Runs the command to its end.
pub fn tidegate(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// What the command wrote to standard error.
pub fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    command.args(arguments).env("TIDEGATE_LOG", "warn");
    command
}

impl Process {
    /// Serves what `config` says on free ports, with its data in `dir`.
    pub fn serve(dir: &Path, workers: usize, config: &str) -> Self {
        let file = dir.join("tidegate.toml");
        fs::write(&file, config).unwrap();
        let (file, data) = (file.to_str().unwrap(), dir.join("data"));
        let count = workers.to_string();
        let arguments = [
            "serve",
            "--config",
            file,
            "--workers",
            &count,
            "--data-dir",
            data.to_str().unwrap(),
        ];
        let mut command = command(&arguments);
        command.args(["--mqtt", "127.0.0.1:0", "--admin", "127.0.0.1:0"]);
        // In a file: a full pipe would stop the broker.
        let log = dir.join("log.txt");
        command.stdout(Stdio::piped()).stderr(File::create(&log).unwrap());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut told = |word: &str| {
            let line = lines
                .next()
                .unwrap_or_else(|| panic!("{}", fs::read_to_string(&log).unwrap()))
                .unwrap();
            let address = line
                .strip_prefix(word)
                .map(|rest| rest.trim().trim_start_matches("http://").parse());
            address
                .unwrap_or_else(|| panic!("expected {word}: {line}"))
                .unwrap()
        };
        let (mqtt, admin) = (told("mqtt"), told("admin"));
        Self { child, mqtt, admin }
    }

    /// Pulls the plug: SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end: SIGTERM.
    pub fn terminate(&self) {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Waits for its end.
    pub fn end(&mut self) -> ExitStatus {
        wait_for("the end of the process", || self.child.try_wait().unwrap())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
