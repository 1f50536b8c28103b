//! The components that the scenarios run: those of `modules/` as built by `make modules`, and guests written as text.

use std::path::Path;

/// The component of `modules/NAME`.
pub fn built(name: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join("modules/target/wasm32-wasip2/release").join(format!("{}.wasm", name.replace('-', "_")));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}; run `make modules` first", path.display()))
}
