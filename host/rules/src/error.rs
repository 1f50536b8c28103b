//! Why a component is not a rule module, or why no instance of it can serve. Nothing here happens per message.

use crate::Failure;

/// A component that cannot be loaded or instantiated. The text names the module where it is known, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// The bytes are no component at all.
    #[error("not a WebAssembly component: {0}")]
    NotAComponent(String),
    /// The component is larger than the operator allows.
    #[error("the component has {bytes} bytes, the limit is {bytes_max}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// There is no manifest inside.
    #[error(
        "the component has no manifest: put TOML with at least `name` and `version` into a custom section named \
         `tidegate:manifest` (the SDKs do this from module.toml)"
    )]
    NoManifest,
    /// The manifest cannot be read or contradicts itself; all problems are listed.
    #[error("manifest: {0}")]
    BadManifest(String),
    /// The manifest asks for more than the operator allows any module.
    #[error("module {module}: {problem}")]
    OverLimit {
        /// Name and version.
        module: String,
        /// What is asked for, and the limit.
        problem: String,
    },
    /// A required export is missing or has another type.
    #[error("module {module}: component lacks export {export}: {hint}")]
    MissingExport {
        /// Name and version.
        module: String,
        /// The export's full name.
        export: &'static str,
        /// What the component exports instead, or how the type differs.
        hint: String,
    },
    /// The component wants something that this broker does not have.
    #[error("module {module}: component imports {import}, which this broker does not provide: {hint}")]
    UnknownImport {
        /// Name and version.
        module: String,
        /// The import's full name.
        import: String,
        /// What is provided.
        hint: String,
    },
    /// The engine cannot compile or link it.
    #[error("module {module}: {problem}")]
    Compile {
        /// Name and version.
        module: String,
        /// The engine's words.
        problem: String,
    },
    /// The operator sets a key that the manifest does not list.
    #[error("rule {rule}: module {module} has no config key `{key}`; it has: {known}")]
    UnknownConfigKey {
        /// The rule's name.
        rule: String,
        /// Name and version.
        module: String,
        /// The key in question.
        key: String,
        /// The keys there are.
        known: String,
    },
    /// No room for one more instance, or its start-up code failed.
    #[error("rule {rule}: module {module} cannot be instantiated: {problem}")]
    Instantiate {
        /// The rule's name.
        rule: String,
        /// Name and version.
        module: String,
        /// The engine's words.
        problem: String,
    },
    /// `lifecycle.init` said no.
    #[error("rule {rule}: init of module {module} refused: {problem}")]
    InitRefused {
        /// The rule's name.
        rule: String,
        /// Name and version.
        module: String,
        /// The module's words.
        problem: String,
    },
    /// `lifecycle.init` trapped, ran out of time or of memory.
    #[error("rule {rule}: init failed: {failure}")]
    InitFailed {
        /// The rule's name.
        rule: String,
        /// What went wrong; names the module.
        failure: Failure,
    },
    /// The engine itself cannot start.
    #[error("the WebAssembly engine cannot start: {0}")]
    Engine(String),
}
