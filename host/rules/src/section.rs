//! Finds the manifest in a component's bytes: the custom section `tidegate:manifest`, wherever tools leave it.
//! Does not read what the manifest says, and does not validate the component.

use wasmparser::{Encoding, Parser, Payload};

use crate::RuleError;

const MANIFEST_SECTION: &str = "tidegate:manifest";

/// The manifest's bytes. Linkers leave the section in the core module, packaging tools put it at the top.
pub(crate) fn manifest(wasm: &[u8]) -> Result<&[u8], RuleError> {
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload.map_err(|e| RuleError::NotAComponent(e.to_string()))? {
            Payload::Version {
                encoding: Encoding::Module,
                range,
                ..
            } if range.start == 0 => {
                let text = "this is a core module; build it with --target wasm32-wasip2, or wrap it into a component";
                return Err(RuleError::NotAComponent(text.to_owned()));
            }
            Payload::CustomSection(section) if section.name() == MANIFEST_SECTION => {
                found.push(section.data());
            }
            _ => {}
        }
    }
    match found.as_slice() {
        [] => Err(RuleError::NoManifest),
        [manifest] => Ok(manifest),
        _ => {
            let text = "the component has more than one section `tidegate:manifest`";
            Err(RuleError::BadManifest(text.to_owned()))
        }
    }
}
