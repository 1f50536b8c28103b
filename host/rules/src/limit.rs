//! The memory limit of one instance: all its linear memories together, its tables, and a mark when more was wanted.

use wasmtime::ResourceLimiter;

/// Elements of all tables of one instance; a table holds a module's function pointers.
pub(crate) const TABLE_ELEMENTS_MAX: usize = 64 * 1024;

/// Counts what an instance has and refuses what goes over.
#[derive(Debug)]
pub(crate) struct MemoryLimit {
    bytes: usize,
    bytes_max: usize,
    table_elements: usize,
    refused: bool,
}

impl MemoryLimit {
    pub(crate) const fn new(bytes_max: usize) -> Self {
        Self {
            bytes: 0,
            bytes_max,
            table_elements: 0,
            refused: false,
        }
    }

    /// A new call begins: what was refused earlier was survived.
    pub(crate) fn forget_refusals(&mut self) {
        self.refused = false;
    }

    /// Whether the current call wanted more than there is.
    pub(crate) const fn was_refused(&self) -> bool {
        self.refused
    }

    pub(crate) const fn limit_bytes(&self) -> usize {
        self.bytes_max
    }
}

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self.bytes.saturating_sub(current).saturating_add(desired);
        if total > self.bytes_max {
            self.refused = true;
            return Ok(false);
        }
        // Over the memory's own maximum the growth fails after this, and changes nothing.
        if maximum.is_none_or(|maximum| desired <= maximum) {
            self.bytes = total;
        }
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self
            .table_elements
            .saturating_sub(current)
            .saturating_add(desired);
        if total > TABLE_ELEMENTS_MAX {
            return Ok(false);
        }
        if maximum.is_none_or(|maximum| desired <= maximum) {
            self.table_elements = total;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_memories_count_together() {
        let mut limit = MemoryLimit::new(300);
        assert!(limit.memory_growing(0, 100, None).unwrap());
        assert!(limit.memory_growing(0, 100, None).unwrap());
        assert!(limit.memory_growing(100, 200, None).unwrap());
        assert!(!limit.was_refused());
        assert!(!limit.memory_growing(100, 101, None).unwrap());
        assert!(limit.was_refused());
        limit.forget_refusals();
        assert!(!limit.was_refused());
    }

    #[test]
    fn a_growth_over_the_memorys_own_maximum_does_not_count() {
        let mut limit = MemoryLimit::new(300);
        assert!(limit.memory_growing(0, 200, Some(100)).unwrap());
        assert!(limit.memory_growing(0, 300, None).unwrap());
    }
}
