//! The contract suite on the in-memory system.

use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_sinks::fake::MemorySystem;
use tidegate_sinks::suite::Rig;
use tidegate_sinks::{Connect, SinkError};

struct Memory {
    system: MemorySystem,
    broken: AtomicBool,
}

impl Rig for Memory {
    fn connect(&self) -> Connect {
        self.system.connect()
    }

    fn stored(&self) -> Vec<String> {
        self.system
            .stored()
            .iter()
            .map(|record| record.id.to_string())
            .collect()
    }

    fn poison(&self) -> &'static [u8] {
        b"poison"
    }

    fn set_down(&self, down: bool) {
        self.system
            .set_down(down.then(|| SinkError::Retry("memory: unplugged".into())));
    }

    fn set_broken(&self, broken: bool) {
        self.broken.store(broken, Ordering::Relaxed);
        self.system
            .set_down(broken.then(|| SinkError::Operator("memory: password refused".into())));
    }

    fn lanes(&self) -> usize {
        3
    }
}

fn memory() -> Memory {
    let system = MemorySystem::new();
    system.set_poison(|record| &record.body[..] == b"poison", true);
    system.set_unique_ids();
    Memory {
        system,
        broken: AtomicBool::new(false),
    }
}

fn memory_without_positions() -> Memory {
    let memory = memory();
    memory
        .system
        .set_poison(|record| &record.body[..] == b"poison", false);
    memory
}

tidegate_sinks::contract_suite!(memory);

mod without_positions {
    use super::memory_without_positions;

    tidegate_sinks::contract_suite!(memory_without_positions);
}
