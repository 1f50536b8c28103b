//! Puts versions to work: upload, activate, roll back.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tidegate_rules::{Digest, Engine, Manifest, RuleModule};
use tokio::sync::oneshot;

use super::store::{Module, Store, Version};
use super::{ModuleError, guests::Nursery};
use crate::config::{ModuleSource, RuleSettings};
use crate::pipeline::{Guest, RuleCounts};
use crate::telemetry::RuleSnapshot;
use crate::worker::{Letter, Mailbox};

/// What [`Modules`] needs to know of the node.
pub struct ModulesSettings {
    /// Where the registry lies.
    pub data_dir: PathBuf,
    /// The chain.
    pub rules: Vec<RuleSettings>,
    /// Names of the sinks, by position.
    pub sinks: Vec<String>,
    /// Number of workers.
    pub workers: usize,
}

/// The modules of a node.
pub struct Modules {
    engine: Engine,
    store: Store,
    nursery: Nursery,
    rules: Vec<RuleSettings>,
    workers: usize,
    mailboxes: OnceLock<Vec<Mailbox>>,
    /// One deployment at a time; held from the first look to the last worker's answer.
    deploying: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    modules: BTreeMap<String, Module>,
    /// By rule: `NAME@VERSION` of what serves.
    serving: Vec<Option<String>>,
}

/// An upload that is in the registry now.
pub enum Uploaded {
    /// It was not there before.
    New(Version),
    /// The same bytes were there already.
    Known(Version),
}

/// A version that serves now.
#[derive(Debug)]
pub struct Activated {
    /// The module.
    pub name: String,
    /// The version.
    pub version: String,
    /// What served before.
    pub previous: Option<String>,
    /// Names of the rules that run it.
    pub rules: Vec<String>,
}

impl Modules {
    /// Reads the registry. No module is compiled yet.
    pub fn open(engine: Engine, settings: ModulesSettings) -> Result<Self, ModuleError> {
        let store = Store::open(&settings.data_dir)?;
        let mut modules = BTreeMap::new();
        for (name, (mut module, versions)) in store.scan()? {
            for version in versions {
                let wasm = store.read(&name, &version)?;
                module.versions.push(Version {
                    name: name.clone(),
                    version,
                    digest: Digest::of(&wasm).to_string(),
                    bytes: wasm.len(),
                    description: Manifest::of(&wasm)
                        .map(|manifest| manifest.description)
                        .unwrap_or_default(),
                });
            }
            modules.insert(name, module);
        }
        let serving = vec![None; settings.rules.len()];
        Ok(Self {
            engine,
            store,
            nursery: Nursery::new(settings.sinks),
            rules: settings.rules,
            workers: settings.workers,
            mailboxes: OnceLock::new(),
            deploying: Mutex::new(()),
            state: Mutex::new(State { modules, serving }),
        })
    }

    /// The guests with which the node starts: by rule, one per worker, or none where the module is not there yet.
    pub fn first_guests(&self) -> Result<Vec<Vec<Guest>>, ModuleError> {
        let mut all = Vec::with_capacity(self.rules.len());
        for (position, rule) in self.rules.iter().enumerate() {
            let module = match &rule.module {
                None => None,
                Some(ModuleSource::File(path)) => {
                    let wasm = std::fs::read(path).map_err(|source| ModuleError::Storage {
                        doing: "cannot read",
                        path: path.clone(),
                        source,
                    })?;
                    Some(self.engine.load(&wasm)?)
                }
                Some(ModuleSource::Registry { name, version }) => {
                    let active = self
                        .state()
                        .modules
                        .get(name)
                        .and_then(|module| module.active.clone());
                    let wanted = version
                        .clone()
                        .or(active)
                        .filter(|wanted| self.find(name, wanted).is_some());
                    match wanted {
                        Some(wanted) => Some(self.engine.load(&self.store.read(name, &wanted)?)?),
                        None => {
                            tracing::warn!(rule = %rule.name, module = %name, "messages of this rule wait until its module is uploaded and activated");
                            None
                        }
                    }
                }
            };
            match module {
                Some(module) => {
                    all.push(self.nursery.raise(rule, &module, self.workers)?);
                    self.set_serving(position, &module);
                }
                None => all.push(Vec::new()),
            }
        }
        Ok(all)
    }

    /// Tells where the workers can be reached. Before, nothing can be activated.
    pub fn attach(&self, mailboxes: Vec<Mailbox>) {
        // A second call would be a second start of the same node, which does not exist.
        let _ = self.mailboxes.set(mailboxes);
    }

    /// Checks, compiles and keeps a component.
    pub fn upload(&self, name: &str, version: &str, wasm: &[u8]) -> Result<Uploaded, ModuleError> {
        Store::check_names(name, version)?;
        let _one_at_a_time = self.deploying.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.find(name, version) {
            return match known.digest == Digest::of(wasm).to_string() {
                true => Ok(Uploaded::Known(known)),
                false => Err(ModuleError::OtherBytes {
                    label: format!("{name}@{version}"),
                    digest: known.digest,
                }),
            };
        }
        let module = self.engine.load(wasm)?;
        let manifest = module.manifest();
        if manifest.name != name || manifest.version != version {
            return Err(ModuleError::NameMismatch {
                found: manifest.label(),
                asked: format!("{name}@{version}"),
            });
        }
        self.store.write(name, version, wasm)?;
        let uploaded = Version {
            name: name.to_owned(),
            version: version.to_owned(),
            digest: module.digest().to_string(),
            bytes: wasm.len(),
            description: manifest.description.clone(),
        };
        let mut state = self.state();
        let entry = state.modules.entry(name.to_owned()).or_default();
        name.clone_into(&mut entry.name);
        entry.versions.push(uploaded.clone());
        entry
            .versions
            .sort_by(|left, right| left.version.cmp(&right.version));
        tracing::info!(module = %module.label(), digest = %module.digest(), "module uploaded");
        Ok(Uploaded::New(uploaded))
    }

    /// Makes every rule that uses the module run `version`, on every worker, from its next batch on. If one instance
    /// cannot be created, nothing changes.
    pub fn activate(&self, name: &str, version: &str) -> Result<Activated, ModuleError> {
        let _one_at_a_time = self.deploying.lock().unwrap_or_else(PoisonError::into_inner);
        let module = self.state().modules.get(name).cloned().unwrap_or_default();
        // Activating what is active already must not forget the way back.
        let previous = match module.active.as_deref() == Some(version) {
            true => module.previous,
            false => module.active,
        };
        self.switch(name, version, previous)
    }

    /// Goes back to the version that served before; a second time, forward again.
    pub fn roll_back(&self, name: &str) -> Result<Activated, ModuleError> {
        let _one_at_a_time = self.deploying.lock().unwrap_or_else(PoisonError::into_inner);
        let module = self.state().modules.get(name).cloned();
        let module = module.ok_or_else(|| ModuleError::Unknown {
            label: name.to_owned(),
        })?;
        let target = module.previous.ok_or_else(|| ModuleError::NothingToRollBackTo {
            name: name.to_owned(),
        })?;
        self.switch(name, &target, module.active)
    }

    fn switch(&self, name: &str, version: &str, previous: Option<String>) -> Result<Activated, ModuleError> {
        if self.find(name, version).is_none() {
            return Err(ModuleError::Unknown {
                label: format!("{name}@{version}"),
            });
        }
        let module = self.engine.load(&self.store.read(name, version)?)?;
        let mut raised = Vec::new();
        for (position, rule) in self.rules.iter().enumerate() {
            if runs(rule, name, version) {
                raised.push((position, self.nursery.raise(rule, &module, self.workers)?));
            }
        }
        self.store.write_active(name, version, previous.as_deref())?;
        let mut rules = Vec::with_capacity(raised.len());
        for (position, guests) in raised {
            self.install(position, guests)?;
            self.set_serving(position, &module);
            rules.extend(self.rules.get(position).map(|rule| rule.name.clone()));
        }
        if let Some(entry) = self.state().modules.get_mut(name) {
            entry.active = Some(version.to_owned());
            entry.previous.clone_from(&previous);
        }
        tracing::info!(module = %module.label(), ?rules, "module activated");
        Ok(Activated {
            name: name.to_owned(),
            version: version.to_owned(),
            previous,
            rules,
        })
    }

    /// Hands each worker its guest and waits until all of them serve.
    fn install(&self, rule: usize, guests: Vec<Guest>) -> Result<(), ModuleError> {
        let mailboxes = self.mailboxes.get().ok_or(ModuleError::Stopping)?;
        let mut answers = Vec::with_capacity(guests.len());
        for (mailbox, guest) in mailboxes.iter().zip(guests) {
            let (done, answer) = oneshot::channel();
            mailbox.post(Letter::Install {
                rule,
                guest: Box::new(guest),
                done,
            });
            answers.push(answer);
        }
        for answer in answers {
            answer.blocking_recv().map_err(|_| ModuleError::Stopping)?;
        }
        Ok(())
    }

    /// All modules, for listing.
    pub fn list(&self) -> Vec<Module> {
        self.state().modules.values().cloned().collect()
    }

    /// Every rule with what it runs, and counts yet to be filled in.
    pub fn serving(&self) -> Vec<RuleSnapshot> {
        let state = self.state();
        let snapshot = |(rule, serving): (&RuleSettings, &Option<String>)| RuleSnapshot {
            name: rule.name.clone(),
            module: serving.clone(),
            counts: RuleCounts::default(),
        };
        self.rules.iter().zip(&state.serving).map(snapshot).collect()
    }

    /// A sentence for every rule whose module is not there yet.
    pub fn waiting_rules(&self) -> Vec<String> {
        let state = self.state();
        let waits = |(rule, serving): (&RuleSettings, &Option<String>)| match (&rule.module, serving) {
            (Some(ModuleSource::Registry { name, .. }), None) => {
                Some(format!("rule {}: module {name} is not active", rule.name))
            }
            _ => None,
        };
        self.rules.iter().zip(&state.serving).filter_map(waits).collect()
    }

    fn find(&self, name: &str, version: &str) -> Option<Version> {
        let state = self.state();
        state
            .modules
            .get(name)?
            .versions
            .iter()
            .find(|known| known.version == version)
            .cloned()
    }

    fn set_serving(&self, position: usize, module: &RuleModule) {
        if let Some(serving) = self.state().serving.get_mut(position) {
            *serving = Some(module.label().to_string());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether activating `version` of module `name` concerns `rule`: a rule that names a version takes no other.
fn runs(rule: &RuleSettings, name: &str, version: &str) -> bool {
    match &rule.module {
        Some(ModuleSource::Registry {
            name: used,
            version: named,
        }) => used == name && named.as_deref().is_none_or(|named| named == version),
        Some(ModuleSource::File(_)) | None => false,
    }
}
