//! The one WebAssembly engine of the broker: how code is compiled, what memory is set aside, and the way from bytes to a
//! [`RuleModule`]. Does not instantiate: that is [`crate::Instance`].

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use wasmtime::component::Component;
use wasmtime::{Config, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::cache::Cache;
use crate::instance::INIT_DEADLINE;
use crate::limit::TABLE_ELEMENTS_MAX;
use crate::ticker::Ticker;
use crate::{Digest, Manifest, RuleError, RuleModule, section};

/// Stack of guest code. Deep recursion traps at this depth; the calling thread needs it and some 256 KiB more.
const STACK_BYTES_MAX: usize = 512 * 1024;

/// Frames of guest code in the text of a trap.
const BACKTRACE_FRAMES_MAX: usize = 16;

/// Core instances, tables and memories of one component. A Rust module has 3, 2 and 1; JavaScript engines have more.
const CORE_INSTANCES_PER_COMPONENT: u32 = 24;
const TABLES_PER_COMPONENT: u32 = 12;
const MEMORIES_PER_COMPONENT: u32 = 4;

/// What a worker's instances need on average, for the size of the pools.
const CORE_INSTANCES_AVERAGE: u32 = 10;
const TABLES_AVERAGE: u32 = 6;
const MEMORIES_AVERAGE: u32 = 2;

/// Bounds of the engine. The operator's side: modules cannot go over them.
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// Instances at a time: rules × workers × versions kept warm, and one spare per rule and worker.
    pub instances_max: u32,
    /// Largest memory limit that a manifest may ask for, in bytes. Address space for it is set aside, not memory.
    pub memory_bytes_max: usize,
    /// Longest deadline that a manifest may ask for.
    pub deadline_max: Duration,
    /// Largest component that is loaded, in bytes.
    pub component_bytes_max: usize,
    /// Where compiled code is kept between starts; must be writable by the broker alone. `None`: nowhere.
    pub cache_dir: Option<PathBuf>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            instances_max: 256,
            memory_bytes_max: 64 << 20,
            deadline_max: Duration::from_secs(1),
            component_bytes_max: 32 << 20,
            cache_dir: None,
        }
    }
}

/// The engine. Cheap to clone; its clock runs as long as a clone, a module or an instance lives.
#[derive(Clone)]
pub struct Engine {
    wasm: wasmtime::Engine,
    ticker: Arc<Ticker>,
    cache: Option<Arc<Cache>>,
    settings: Arc<EngineSettings>,
}

impl Engine {
    /// Sets the pools aside and starts the clock of the deadlines.
    ///
    /// # Errors
    /// [`RuleError::Engine`] if address space, the thread or the cache directory cannot be had.
    pub fn new(settings: EngineSettings) -> Result<Self, RuleError> {
        let wasm = wasmtime::Engine::new(&config(&settings)).map_err(|e| {
            RuleError::Engine(format!(
                "{e:#} (for {} instances; fewer need less)",
                settings.instances_max
            ))
        })?;
        let ticker = Ticker::start(wasm.clone(), settings.deadline_max.max(INIT_DEADLINE))
            .map_err(|e| RuleError::Engine(format!("no thread for its clock: {e}")))?;
        let cache = match &settings.cache_dir {
            None => None,
            Some(dir) => Some(Arc::new(Cache::open(dir, &wasm).map_err(|e| {
                RuleError::Engine(format!("cache directory {}: {e}", dir.display()))
            })?)),
        };
        Ok(Self {
            wasm,
            ticker: Arc::new(ticker),
            cache,
            settings: Arc::new(settings),
        })
    }

    /// Checks and compiles a component. Takes seconds for a large one: not for a worker's thread.
    ///
    /// # Errors
    /// Every problem of the component itself, with the module's name once it is known.
    pub fn load(&self, wasm: &[u8]) -> Result<Arc<RuleModule>, RuleError> {
        let bytes_max = self.settings.component_bytes_max;
        if wasm.len() > bytes_max {
            return Err(RuleError::TooLarge {
                bytes: wasm.len(),
                bytes_max,
            });
        }
        let manifest = Manifest::parse(section::manifest(wasm)?)?;
        self.check_limits(&manifest)?;
        let digest = Digest::of(wasm);
        let component = self.compile(wasm, &digest, &manifest)?;
        RuleModule::new(manifest, digest, &component, Arc::clone(&self.ticker)).map(Arc::new)
    }

    fn compile(&self, wasm: &[u8], digest: &Digest, manifest: &Manifest) -> Result<Component, RuleError> {
        if let Some(component) = self
            .cache
            .as_ref()
            .and_then(|cache| cache.load(&self.wasm, digest))
        {
            return Ok(component);
        }
        let component = Component::from_binary(&self.wasm, wasm).map_err(|e| RuleError::Compile {
            module: manifest.label(),
            problem: format!("{e:#}"),
        })?;
        if let Some(cache) = &self.cache {
            // A full disk costs a compilation at the next start, nothing now.
            let _ = cache.store(digest, &component);
        }
        Ok(component)
    }

    fn check_limits(&self, manifest: &Manifest) -> Result<(), RuleError> {
        let over = |problem| {
            Err(RuleError::OverLimit {
                module: manifest.label(),
                problem,
            })
        };
        let limits = &manifest.limits;
        if limits.memory_bytes_max > self.settings.memory_bytes_max {
            return over(format!(
                "limits.memory asks for {} bytes, the broker allows {}",
                limits.memory_bytes_max, self.settings.memory_bytes_max
            ));
        }
        if limits.deadline > self.settings.deadline_max {
            return over(format!(
                "limits.deadline asks for {} ms, the broker allows {} ms",
                limits.deadline.as_millis(),
                self.settings.deadline_max.as_millis()
            ));
        }
        Ok(())
    }
}

fn config(settings: &EngineSettings) -> Config {
    let instances = settings.instances_max;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances.saturating_mul(CORE_INSTANCES_AVERAGE))
        .total_memories(instances.saturating_mul(MEMORIES_AVERAGE))
        .total_tables(instances.saturating_mul(TABLES_AVERAGE))
        .max_core_instances_per_component(CORE_INSTANCES_PER_COMPONENT)
        .max_memories_per_component(MEMORIES_PER_COMPONENT)
        .max_tables_per_component(TABLES_PER_COMPONENT)
        .table_elements(TABLE_ELEMENTS_MAX)
        .max_memory_size(settings.memory_bytes_max)
        // A slot that is used again costs no system call for this much of its memory.
        .linear_memory_keep_resident(64 * 1024)
        .table_keep_resident(16 * 1024);
    let mut config = Config::new();
    config
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
        .memory_init_cow(true)
        .epoch_interruption(true)
        .max_wasm_stack(STACK_BYTES_MAX)
        .wasm_backtrace_max_frames(NonZeroUsize::new(BACKTRACE_FRAMES_MAX))
        // Rules never wait: without this a call is some 450 ns cheaper.
        .concurrency_support(false)
        .parallel_compilation(true);
    config
}
