//! The component that comes out of a build: exports, imports and the manifest in its section.

use std::path::Path;
use std::process::Command;

use wasmparser::{Parser, Payload};

/// Builds `modules/pass` as its author would. Needs the target `wasm32-wasip2`.
fn pass_component() -> Vec<u8> {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../modules");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--target", "wasm32-wasip2", "-p", "pass"])
        .current_dir(&modules)
        .status()
        .expect("cargo runs");
    assert!(built.success(), "modules/pass does not build for wasm32-wasip2");
    std::fs::read(modules.join("target/wasm32-wasip2/release/pass.wasm")).expect("the component is there")
}

#[derive(Default)]
struct Contents {
    manifests: Vec<String>,
    imports: Vec<String>,
    exports: Vec<String>,
}

fn contents(component: &[u8]) -> Contents {
    let mut contents = Contents::default();
    // Adapters are components of their own inside; only the outermost one talks to the broker.
    let mut depth = 0;
    for payload in Parser::new(0).parse_all(component) {
        match payload.expect("a valid component") {
            Payload::CustomSection(section) if section.name() == "tidegate:manifest" => {
                contents.manifests.push(String::from_utf8_lossy(section.data()).into_owned());
            }
            Payload::Version { .. } => depth += 1,
            Payload::End(_) => depth -= 1,
            Payload::ComponentImportSection(section) if depth == 1 => {
                contents.imports.extend(section.into_iter().map(|import| import.expect("valid").name.name.to_owned()));
            }
            Payload::ComponentExportSection(section) if depth == 1 => {
                contents.exports.extend(section.into_iter().map(|export| export.expect("valid").name.name.to_owned()));
            }
            _ => {}
        }
    }
    contents
}

#[test]
fn a_rule_becomes_a_component_with_its_manifest_inside() {
    let contents = contents(&pass_component());

    let manifest = include_str!("../../modules/pass/module.toml");
    assert_eq!(contents.manifests, [manifest]);
    for export in ["tidegate:broker/handler@0.1.0", "tidegate:broker/lifecycle@0.1.0"] {
        assert!(contents.exports.iter().any(|name| name == export), "{export} in {:?}", contents.exports);
    }
    eprintln!("{:#?}", contents.imports);
    for import in &contents.imports {
        assert!(import.starts_with("tidegate:broker/") || import.starts_with("wasi:"), "{import}");
    }
}
