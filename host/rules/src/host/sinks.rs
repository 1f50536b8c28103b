//! `tidegate:broker/sinks`: names to ids, for what is both asked for and granted.

use wasmtime::StoreContextMut;
use wasmtime::component::LinkerInstance;

use super::Guest;

/// Defines the interface's functions.
pub(super) fn define(instance: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    instance.func_wrap("open", |store: StoreContextMut<'_, Guest>, (name,): (String,)| {
        Ok((store.data().permissions.open(&name),))
    })
}
