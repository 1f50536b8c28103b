//! The machine that figures were taken on, as a report names it.

use serde::{Deserialize, Serialize};

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Processor, by its own name.
    pub processor: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Distribution.
    pub system: String,
    /// Kernel release.
    pub kernel: String,
}

impl Machine {
    /// This machine. What it does not tell is "unknown".
    pub fn this() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let cpuinfo = read("/proc/cpuinfo");
        let processor = ["model name", "Model", "Hardware"]
            .iter()
            .find_map(|name| field(&cpuinfo, name, ':'));
        let memory = field(&read("/proc/meminfo"), "MemTotal", ':')
            .and_then(|text| text.split_ascii_whitespace().next()?.parse::<u64>().ok());
        let system = field(&read("/etc/os-release"), "PRETTY_NAME", '=');
        let unknown = || "unknown".to_owned();
        Self {
            processor: processor.unwrap_or_else(unknown),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory_bytes: memory.unwrap_or(0) * 1024,
            system: system.map_or_else(unknown, |text| text.trim_matches('"').to_owned()),
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        }
    }
}

fn field(text: &str, name: &str, separator: char) -> Option<String> {
    let value = |line: &str| {
        let (key, value) = line.split_once(separator)?;
        (key.trim() == name).then(|| value.trim().to_owned())
    };
    text.lines().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_cores_and_memory() {
        let machine = Machine::this();
        assert!(machine.cores > 0 && machine.memory_bytes > 0 && !machine.kernel.is_empty());
        assert_eq!(
            field("a : 1\nmodel name\t: X Y\n", "model name", ':').as_deref(),
            Some("X Y")
        );
    }
}
