//! `tidegate:broker/config`: the rule's configuration over the manifest's defaults.

use wasmtime::StoreContextMut;
use wasmtime::component::LinkerInstance;

use super::Guest;

/// Defines the interface's functions.
pub(super) fn define(instance: &mut LinkerInstance<'_, Guest>) -> wasmtime::Result<()> {
    instance.func_wrap("get", |store: StoreContextMut<'_, Guest>, (key,): (String,)| {
        Ok((store.data().config.get(&key).cloned(),))
    })?;
    instance.func_wrap("get-all", |store: StoreContextMut<'_, Guest>, (): ()| {
        let all: Vec<(String, String)> = store
            .data()
            .config
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        Ok((all,))
    })
}
