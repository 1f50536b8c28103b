//! The registry on disk.
//!
//! ```text
//!  DATA_DIR/modules/NAME/VERSION.wasm    the component, never changed
//!  DATA_DIR/modules/NAME/active          VERSION, and on a second line the one before it
//! ```
//!
//! Every file is written beside its place, fsynced and renamed into it, so that a crash leaves the old or the new one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::ModuleError;
use crate::config::is_plain_name;

/// Versions of one module at most: a deployment loop must not fill the disk.
const VERSIONS_MAX: usize = 1_000;

/// One version of a module.
#[derive(Debug, Clone)]
pub struct Version {
    /// Module name.
    pub name: String,
    /// Version.
    pub version: String,
    /// SHA-256 of the component, in hexadecimal.
    pub digest: String,
    /// Size of the component.
    pub bytes: usize,
    /// From the manifest.
    pub description: String,
}

/// One module.
#[derive(Debug, Clone, Default)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// The version that serves, or would serve if a rule used it.
    pub active: Option<String>,
    /// The one that served before.
    pub previous: Option<String>,
    /// All there are, sorted by version text.
    pub versions: Vec<Version>,
}

/// The registry's files.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
}

impl Store {
    /// The registry in `data_dir`, created if it is not there.
    pub fn open(data_dir: &Path) -> Result<Self, ModuleError> {
        let dir = data_dir.join("modules");
        fs::create_dir_all(&dir).map_err(storage("cannot create", &dir))?;
        Ok(Self { dir })
    }

    /// Every module with the component files of its versions, unread.
    pub fn scan(&self) -> Result<BTreeMap<String, (Module, Vec<String>)>, ModuleError> {
        let mut modules = BTreeMap::new();
        for name in names(&self.dir)? {
            let (active, previous) = self.read_active(&name)?;
            let files = names(&self.dir.join(&name))?;
            let versions = files
                .iter()
                .filter_map(|file| file.strip_suffix(".wasm"))
                .map(str::to_owned)
                .collect();
            let module = Module {
                name: name.clone(),
                active,
                previous,
                versions: Vec::new(),
            };
            modules.insert(name, (module, versions));
        }
        Ok(modules)
    }

    /// The component of a version.
    pub fn read(&self, name: &str, version: &str) -> Result<Vec<u8>, ModuleError> {
        let path = self.component(name, version)?;
        fs::read(&path).map_err(storage("cannot read", &path))
    }

    /// Keeps a component that is not there yet.
    pub fn write(&self, name: &str, version: &str, wasm: &[u8]) -> Result<(), ModuleError> {
        let path = self.component(name, version)?;
        let dir = self.dir.join(name);
        fs::create_dir_all(&dir).map_err(storage("cannot create", &dir))?;
        if names(&dir)?.len() >= VERSIONS_MAX {
            return Err(ModuleError::Full {
                name: name.to_owned(),
                max: VERSIONS_MAX,
                dir,
            });
        }
        replace(&path, wasm).map_err(storage("cannot write", &path))
    }

    /// Remembers what is active, and what was before.
    pub fn write_active(&self, name: &str, active: &str, previous: Option<&str>) -> Result<(), ModuleError> {
        let path = self.dir.join(name).join("active");
        let text = format!("{active}\n{}\n", previous.unwrap_or(""));
        replace(&path, text.as_bytes()).map_err(storage("cannot write", &path))
    }

    fn read_active(&self, name: &str) -> Result<(Option<String>, Option<String>), ModuleError> {
        let path = self.dir.join(name).join("active");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(storage("cannot read", &path)(error)),
        };
        let mut lines = text
            .lines()
            .map(|line| (!line.is_empty()).then(|| line.to_owned()));
        Ok((lines.next().flatten(), lines.next().flatten()))
    }

    /// Refuses what cannot name a module or a version.
    pub fn check_names(name: &str, version: &str) -> Result<(), ModuleError> {
        match [name, version].into_iter().find(|text| !is_plain_name(text)) {
            Some(text) => Err(ModuleError::BadName {
                text: text.to_owned(),
            }),
            None => Ok(()),
        }
    }

    fn component(&self, name: &str, version: &str) -> Result<PathBuf, ModuleError> {
        Self::check_names(name, version)?;
        Ok(self.dir.join(name).join(format!("{version}.wasm")))
    }
}

/// Plain names in `dir`, sorted; anything else there is none of ours.
fn names(dir: &Path) -> Result<Vec<String>, ModuleError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).map_err(storage("cannot list", dir))? {
        let entry = entry.map_err(storage("cannot list", dir))?;
        names.extend(
            entry
                .file_name()
                .into_string()
                .ok()
                .filter(|name| is_plain_name(name)),
        );
    }
    names.sort();
    Ok(names)
}

fn storage(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ModuleError {
    let path = path.to_owned();
    move |source| ModuleError::Storage { doing, path, source }
}

/// Puts `bytes` into the place of `path`, whole or not at all, to stay.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A name that starts with a dot is none of a module or version, so a leftover is never taken for one.
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    let beside = path.with_file_name(format!(".{name}.new"));
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    match path.parent() {
        Some(dir) => File::open(dir)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        store.write("clean", "1.0.0", b"one").unwrap();
        store.write("clean", "1.1.0", b"two").unwrap();
        store.write_active("clean", "1.1.0", Some("1.0.0")).unwrap();
        fs::write(dir.path().join("modules/clean/.2.0.0.wasm.new"), "torn").unwrap();
        let again = Store::open(dir.path()).unwrap();
        let modules = again.scan().unwrap();
        let (module, versions) = &modules["clean"];
        assert_eq!(
            (module.active.as_deref(), module.previous.as_deref()),
            (Some("1.1.0"), Some("1.0.0"))
        );
        assert_eq!(versions, &["1.0.0", "1.1.0"]);
        assert_eq!(again.read("clean", "1.0.0").unwrap(), b"one");
    }

    #[test]
    fn names_cannot_leave_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        for bad in ["..", "../x", "a/b", "", ".hidden", "a b"] {
            let error = store.write(bad, "1", b"").unwrap_err();
            assert!(matches!(error, ModuleError::BadName { .. }), "{bad}: {error}");
            assert!(
                matches!(store.read("ok", bad), Err(ModuleError::BadName { .. })),
                "{bad}"
            );
        }
    }
}
