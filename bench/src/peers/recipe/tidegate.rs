//! Tidegate itself: flags, or a configuration file with flags on top.

use std::path::Path;

use super::{Absent, Recipe, Setting, first_line};

pub fn recipe(setting: &Setting, config: Option<&Path>) -> Result<Recipe, Absent> {
    let program = setting.tidegate.clone();
    if !program.is_file() {
        return Err(Absent {
            name: "tidegate",
            remedy: "build it with `cargo build --profile dist -p tidegate`, or give its path with --tidegate",
        });
    }
    let mut args = vec!["serve".into()];
    if let Some(config) = config {
        args.extend(["--config".into(), config.into()]);
    }
    args.extend(["--mqtt".into(), setting.mqtt.to_string().into()]);
    args.extend(["--admin".into(), setting.other.to_string().into()]);
    args.extend(["--data-dir".into(), setting.directory.join("data").into()]);
    args.extend(["--workers".into(), setting.workers.to_string().into()]);
    args.extend(setting.tidegate_args.iter().map(Into::into));
    let mut shown = vec![format!("--workers {}", setting.workers)];
    shown.extend(setting.tidegate_args.iter().cloned());
    if let Some(config) = config {
        shown.push(format!("--config {}", config.display()));
        shown.extend(
            std::fs::read_to_string(config)
                .map(|text| super::lines(&text))
                .unwrap_or_default(),
        );
    }
    Ok(Recipe {
        version: first_line(&program, "--version"),
        program,
        args,
        file: None,
        shown,
    })
}
