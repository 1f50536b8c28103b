//! The components that the scenarios run: those of `modules/` as built by `make modules`, and guests written as text.

use std::path::Path;

/// The component of `modules/NAME`.
pub fn built(name: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root
        .join("modules/target/wasm32-wasip2/release")
        .join(format!("{}.wasm", name.replace('-', "_")));
    std::fs::read(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; run `make modules` first", path.display()))
}

/// The telemetry module of `version`: 1.0.0, or 1.1.0 of the examples.
pub fn telemetry(version: &str) -> Vec<u8> {
    match version {
        "1.0.0" => built("telemetry"),
        "1.1.0" => built("telemetry-1-1-0"),
        other => panic!("there is no telemetry {other}"),
    }
}
