//! Writes the codec's named byte cases as the first corpus of both targets: a version byte, then the packet.

use std::path::Path;

use anyhow::{Context, Result};
use tidegate_codec::Version;

fn main() -> Result<()> {
    for target in ["decode", "stream"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        for (index, case) in tidegate_codec::cases::all().iter().enumerate() {
            let mut bytes = vec![case.version.map_or(0, Version::level)];
            bytes.extend_from_slice(case.bytes);
            let file = folder.join(format!("case-{index}"));
            std::fs::write(&file, bytes).with_context(|| format!("writing {}", file.display()))?;
        }
    }
    Ok(())
}
