//! A loaded module: checked, compiled, linked, ready for instances on any thread.
//!
//! Invariant: its imports are all provided and its exports have the right types, so that only the module's own code can
//! fail an instance.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, ComponentExportIndex, ComponentNamedList, InstancePre, Lift, Lower};

use crate::decode::{GuestFailure, GuestOutcome};
use crate::host::{self, Guest};
use crate::ticker::Ticker;
use crate::{Manifest, RuleError};

const HANDLER: &str = "tidegate:broker/handler@0.1.0";
const LIFECYCLE: &str = "tidegate:broker/lifecycle@0.1.0";

/// Parameters and result of `handler.handle`.
pub(crate) type HandleParams<'a> = (&'a [u32], &'a [u8]);
pub(crate) type HandleResults = (Result<GuestOutcome, GuestFailure>,);
/// Result of `lifecycle.init`.
pub(crate) type InitResults = (Result<(), String>,);

/// SHA-256 of a component's bytes: its identity. Shows as lower-case hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Of a component's bytes.
    pub fn of(wasm: &[u8]) -> Self {
        Self(Sha256::digest(wasm).into())
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A module that can be instantiated.
pub struct RuleModule {
    manifest: Manifest,
    label: Arc<str>,
    digest: Digest,
    pub(crate) pre: InstancePre<Guest>,
    pub(crate) handle: ComponentExportIndex,
    pub(crate) init: Option<ComponentExportIndex>,
    pub(crate) ticker: Arc<Ticker>,
}

impl RuleModule {
    pub(crate) fn new(
        manifest: Manifest,
        digest: Digest,
        component: &Component,
        ticker: Arc<Ticker>,
    ) -> Result<Self, RuleError> {
        let label = manifest.label();
        host::check_imports(component, &label)?;
        let compile = |e: wasmtime::Error| RuleError::Compile {
            module: label.clone(),
            problem: format!("{e:#}"),
        };
        let linker = host::linker(component).map_err(compile)?;
        let pre = linker.instantiate_pre(component).map_err(compile)?;
        let missing = |export, hint| RuleError::MissingExport {
            module: label.clone(),
            export,
            hint,
        };
        let handle = function::<HandleParams<'_>, HandleResults>(&pre, HANDLER, "handle")
            .map_err(|hint| missing(HANDLER, hint))?
            .ok_or_else(|| missing(HANDLER, exports(component)))?;
        let init =
            function::<(), InitResults>(&pre, LIFECYCLE, "init").map_err(|hint| missing(LIFECYCLE, hint))?;
        Ok(Self {
            label: Arc::from(label.as_str()),
            manifest,
            digest,
            pre,
            handle,
            init,
            ticker,
        })
    }

    /// What the module says about itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Digest of the component's bytes.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Name and version, as errors show them.
    pub fn label(&self) -> &Arc<str> {
        &self.label
    }
}

impl fmt::Debug for RuleModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuleModule")
            .field("label", &self.label)
            .field("digest", &self.digest)
            .finish()
    }
}

/// The export `interface#name`; `None` if there is no such interface, an error text if its type is another.
fn function<Params, Results>(
    pre: &InstancePre<Guest>,
    interface: &str,
    name: &str,
) -> Result<Option<ComponentExportIndex>, String>
where
    Params: ComponentNamedList + Lower,
    Results: ComponentNamedList + Lift,
{
    let component = pre.component();
    let Some(instance) = component.get_export_index(None, interface) else {
        return Ok(None);
    };
    let lacks = || format!("the interface has no function `{name}`");
    let (item, index) = component.get_export(Some(&instance), name).ok_or_else(lacks)?;
    let ComponentItem::ComponentFunc(function) = item else {
        return Err(lacks());
    };
    function
        .typecheck::<Params, Results>(&pre.instance_type())
        .map_err(|e| format!("the type of `{name}` differs from this version of the interface: {e:#}"))?;
    Ok(Some(index))
}

/// What a component exports, in words.
fn exports(component: &Component) -> String {
    let component_type = component.component_type();
    let names: Vec<&str> = component_type
        .exports(component.engine())
        .map(|(name, _)| name)
        .collect();
    match names.is_empty() {
        true => "it exports nothing; build it for the world tidegate:broker/rule".to_owned(),
        false => format!(
            "it exports {}; build it for the world tidegate:broker/rule",
            names.join(", ")
        ),
    }
}
