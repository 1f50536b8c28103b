//! Compiled components on disk, so that a restart need not compile again.
//!
//! Invariant: only files that this module wrote whole are loaded: the name holds the component's digest and everything
//! of the engine that code depends on, and the content begins with its own digest. Compiled code is never accepted from
//! users: the directory belongs to the broker alone. A cache that fails only costs time.
//!
//! ```text
//!  <component sha256>-<engine version and config hash>.cwasm
//!  | sha256 of the rest (32 bytes) | serialized component |
//! ```

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::Digest;

const CHECKSUM_BYTES: usize = 32;

/// A directory of compiled components.
pub(crate) struct Cache {
    dir: PathBuf,
    engine_key: u64,
}

impl Cache {
    /// Uses `dir`, which is made if it does not exist, readable by its owner alone.
    pub(crate) fn open(dir: &Path, engine: &Engine) -> std::io::Result<Self> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(dir)?;
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        Ok(Self {
            dir: dir.to_owned(),
            engine_key: hasher.finish(),
        })
    }

    /// The compiled component, if it is there and whole.
    #[allow(unsafe_code)] // the workspace's one listed exception: loading precompiled components
    pub(crate) fn load(&self, engine: &Engine, digest: &Digest) -> Option<Component> {
        let file = fs::read(self.path(digest)).ok()?;
        let (checksum, code) = file.split_at_checked(CHECKSUM_BYTES)?;
        if Sha256::digest(code).as_slice() != checksum {
            return None;
        }
        // SAFETY: `deserialize` needs bytes that `Component::serialize` produced. `store` is the only writer of the
        // broker's own directory; a torn or damaged file fails the checksum above, and the engine checks its version
        // and configuration itself.
        unsafe { Component::deserialize(engine, code) }.ok()
    }

    /// Keeps a compiled component. Written beside and renamed, so that no reader sees half of it.
    pub(crate) fn store(&self, digest: &Digest, component: &Component) -> std::io::Result<()> {
        let code = component.serialize().map_err(std::io::Error::other)?;
        let path = self.path(digest);
        let partial = path.with_extension(format!("{}.partial", std::process::id()));
        let mut file = fs::File::create(&partial)?;
        file.write_all(&Sha256::digest(&code))?;
        file.write_all(&code)?;
        file.sync_all()?;
        fs::rename(&partial, &path)
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        self.dir.join(format!("{digest}-{:016x}.cwasm", self.engine_key))
    }
}
