//! The floor server, as another process of this program.

use super::{Absent, Recipe, Setting};

pub fn recipe(setting: &Setting) -> Result<Recipe, Absent> {
    let program = std::env::current_exe().map_err(|_| Absent {
        name: "floor",
        remedy: "it is part of this program, whose own path cannot be read",
    })?;
    // Called as `tidegate bench …` or on its own: the floor is reached the same way.
    let nested = std::env::args_os().nth(1).filter(|arg| arg == "bench");
    let own = ["floor".into(), "--bind".into(), setting.mqtt.to_string().into()];
    let threads = ["--threads".into(), setting.workers.to_string().into()];
    Ok(Recipe {
        program,
        args: nested.into_iter().chain(own).chain(threads).collect(),
        file: None,
        version: format!("floor {}", env!("CARGO_PKG_VERSION")),
        shown: vec![format!("--threads {}", setting.workers)],
    })
}
