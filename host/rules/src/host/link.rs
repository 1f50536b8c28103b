//! Which imports a component may have, and what stands behind each. One line per interface.
//!
//! Invariant: an import that is not listed here refuses the component at load; a listed WASI interface whose functions
//! are not defined traps when one is called.

use wasmtime::StoreContextMut;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, LinkerInstance, Resource};

use super::{Guest, clocks, config, log, random, sinks, stdio};
use crate::RuleError;

type Define = fn(&mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()>;

/// The broker's own interfaces, with every function that exists in them.
const INTERFACES: [(&str, &[&str], Define); 3] = [
    (
        "tidegate:broker/config@0.1.0",
        &["get", "get-all"],
        config::define,
    ),
    ("tidegate:broker/log@0.1.0", &["log", "enabled"], log::define),
    ("tidegate:broker/sinks@0.1.0", &["open"], sinks::define),
];

/// Packages of WASI 0.2 that a language's standard library may pull in.
const WASI: [&str; 6] = [
    "wasi:cli",
    "wasi:clocks",
    "wasi:filesystem",
    "wasi:io",
    "wasi:random",
    "wasi:sockets",
];

/// Refuses a component that needs what is not provided.
pub(crate) fn check_imports(component: &Component, module: &str) -> Result<(), RuleError> {
    let engine = component.engine();
    for (name, item) in component.component_type().imports(engine) {
        let unknown = |import: String, hint: String| {
            Err(RuleError::UnknownImport {
                module: module.to_owned(),
                import,
                hint,
            })
        };
        if is_wasi(name) {
            continue;
        }
        let Some((_, functions, _)) = INTERFACES.iter().find(|(known, ..)| *known == name) else {
            let known: Vec<&str> = INTERFACES.iter().map(|(known, ..)| *known).collect();
            return unknown(
                name.to_owned(),
                format!(
                    "it provides {} and WASI 0.2 without files and sockets",
                    known.join(", ")
                ),
            );
        };
        let ComponentItem::ComponentInstance(instance) = item.ty else {
            return unknown(name.to_owned(), "it is an interface here".to_owned());
        };
        for (export, item) in instance.exports(engine) {
            let is_function = matches!(item.ty, ComponentItem::ComponentFunc(_));
            if is_function && !functions.contains(&export) {
                return unknown(
                    format!("{name}#{export}"),
                    format!("the interface has {}", functions.join(", ")),
                );
            }
        }
    }
    Ok(())
}

/// A linker for `component`, whose imports have been checked.
pub(crate) fn linker(component: &Component) -> wasmtime::Result<Linker<Guest>> {
    let engine = component.engine();
    let mut linker = Linker::new(engine);
    // What stays undefined traps when it is called. Real functions come after, and take the place of a trap.
    linker.allow_shadowing(true);
    linker.define_unknown_imports_as_traps(component)?;
    for (name, _) in component.component_type().imports(engine) {
        match INTERFACES.iter().find(|(known, ..)| *known == name) {
            Some((_, _, define)) => define(&mut linker.instance(name)?)?,
            None => define_wasi(&mut linker, name)?,
        }
    }
    Ok(linker)
}

fn is_wasi(name: &str) -> bool {
    let (interface, version) = name.split_once('@').unwrap_or((name, ""));
    let package = interface
        .split_once('/')
        .map_or(interface, |(package, _)| package);
    WASI.contains(&package) && version.starts_with("0.2.")
}

/// Any 0.2 version is the same to us, so each is defined under the name that the component uses.
fn define_wasi(linker: &mut Linker<Guest>, name: &str) -> wasmtime::Result<()> {
    type Store<'a> = StoreContextMut<'a, Guest>;
    let (interface, _) = name.split_once('@').unwrap_or((name, ""));
    match interface {
        "wasi:random/random" | "wasi:random/insecure" | "wasi:random/insecure-seed" => {
            random::define(linker, name, interface)
        }
        "wasi:clocks/monotonic-clock" => clocks::define_monotonic(linker, name),
        "wasi:clocks/wall-clock" => clocks::define_wall(linker, name),
        "wasi:cli/stdout" | "wasi:cli/stderr" => stdio::define_output(linker, name, interface),
        "wasi:io/poll" => stdio::define_poll(linker, name),
        "wasi:io/streams" => stdio::define_streams(linker, name),
        "wasi:cli/environment" => {
            let mut instance = linker.instance(name)?;
            instance.func_wrap("get-environment", |_: Store<'_>, (): ()| {
                Ok((Vec::<(String, String)>::new(),))
            })?;
            instance.func_wrap("get-arguments", |_: Store<'_>, (): ()| {
                Ok((Vec::<String>::new(),))
            })?;
            instance.func_wrap("initial-cwd", |_: Store<'_>, (): ()| Ok((None::<String>,)))
        }
        "wasi:cli/exit" => linker.instance(name)?.func_wrap(
            "exit",
            |_: Store<'_>, (_,): (Result<(), ()>,)| -> wasmtime::Result<()> {
                wasmtime::bail!("the module called exit, which ends nothing but itself")
            },
        ),
        "wasi:cli/terminal-stdin" => no_terminal(linker, name, "get-terminal-stdin"),
        "wasi:cli/terminal-stdout" => no_terminal(linker, name, "get-terminal-stdout"),
        "wasi:cli/terminal-stderr" => no_terminal(linker, name, "get-terminal-stderr"),
        "wasi:filesystem/preopens" => linker
            .instance(name)?
            .func_wrap("get-directories", |_: Store<'_>, (): ()| {
                Ok((Vec::<(Resource<()>, String)>::new(),))
            }),
        _ => Ok(()),
    }
}

fn no_terminal(linker: &mut Linker<Guest>, name: &str, function: &str) -> wasmtime::Result<()> {
    linker
        .instance(name)?
        .func_wrap(function, |_: StoreContextMut<'_, Guest>, (): ()| {
            Ok((None::<Resource<()>>,))
        })
}
