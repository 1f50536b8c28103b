//! The component that comes out of a build: exports, imports and the manifest in its section.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use wasmparser::{Parser, Payload};

#[test]
fn a_rule_becomes_a_component_with_its_manifest_inside() -> Result<(), Box<dyn Error>> {
    let contents = contents(&pass_component()?)?;

    assert_eq!(
        contents.manifests,
        [include_str!("../../modules/pass/module.toml")]
    );
    for export in ["tidegate:broker/handler@0.1.0", "tidegate:broker/lifecycle@0.1.0"] {
        assert!(
            contents.exports.iter().any(|name| name == export),
            "{export} in {:?}",
            contents.exports
        );
    }
    for import in &contents.imports {
        assert!(
            import.starts_with("tidegate:broker/") || import.starts_with("wasi:"),
            "{import}"
        );
    }
    Ok(())
}

/// Builds `modules/pass` as its author would. Needs the target `wasm32-wasip2`.
fn pass_component() -> Result<Vec<u8>, Box<dyn Error>> {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../modules");
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--release",
            "--target",
            "wasm32-wasip2",
            "-p",
            "pass",
        ])
        .args(["--target-dir", "target"])
        .current_dir(&modules)
        .status()?;
    assert!(
        built.success(),
        "modules/pass does not build: is the target there? rustup target add wasm32-wasip2"
    );
    Ok(std::fs::read(
        modules.join("target/wasm32-wasip2/release/pass.wasm"),
    )?)
}

#[derive(Default)]
struct Contents {
    manifests: Vec<String>,
    imports: Vec<String>,
    exports: Vec<String>,
}

fn contents(component: &[u8]) -> Result<Contents, Box<dyn Error>> {
    let mut contents = Contents::default();
    // Adapters are components of their own inside; only the outermost one talks to the broker.
    let mut depth = 0;
    for payload in Parser::new(0).parse_all(component) {
        match payload? {
            Payload::Version { .. } => depth += 1,
            Payload::End(_) => depth -= 1,
            Payload::CustomSection(section) if section.name() == "tidegate:manifest" => {
                contents
                    .manifests
                    .push(String::from_utf8_lossy(section.data()).into_owned());
            }
            Payload::ComponentImportSection(section) if depth == 1 => {
                for import in section {
                    contents.imports.push(import?.name.name.to_owned());
                }
            }
            Payload::ComponentExportSection(section) if depth == 1 => {
                for export in section {
                    contents.exports.push(export?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(contents)
}
