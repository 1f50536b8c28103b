//! `wasi:clocks`: the time of the call's newest message. It stands still during a call, so that the same batch gives the
//! same outcome when it is bisected, run again or replayed. Waiting is not provided and traps.

use wasmtime::StoreContextMut;
use wasmtime::component::{ComponentType, Lift, Linker, Lower};

use super::Guest;

/// Both clocks move in milliseconds.
const RESOLUTION_NS: u64 = 1_000_000;

#[derive(ComponentType, Lift, Lower, Clone, Copy)]
#[component(record)]
struct Datetime {
    #[component(name = "seconds")]
    seconds: u64,
    #[component(name = "nanoseconds")]
    nanoseconds: u32,
}

impl Datetime {
    fn of_ms(ms: u64) -> Self {
        // Below a second there are fewer than 10^9 nanoseconds: nothing is cut.
        Self {
            seconds: ms / 1000,
            nanoseconds: (ms % 1000 * RESOLUTION_NS) as u32,
        }
    }
}

/// Defines `wasi:clocks/monotonic-clock` under the full name that the component imports.
pub(super) fn define_monotonic(linker: &mut Linker<Guest>, name: &str) -> wasmtime::Result<()> {
    let mut instance = linker.instance(name)?;
    instance.func_wrap("now", |store: StoreContextMut<'_, Guest>, (): ()| {
        Ok((store.data().now_ms.saturating_mul(RESOLUTION_NS),))
    })?;
    instance.func_wrap("resolution", |_: StoreContextMut<'_, Guest>, (): ()| {
        Ok((RESOLUTION_NS,))
    })
}

/// Defines `wasi:clocks/wall-clock` under the full name that the component imports.
pub(super) fn define_wall(linker: &mut Linker<Guest>, name: &str) -> wasmtime::Result<()> {
    let mut instance = linker.instance(name)?;
    instance.func_wrap("now", |store: StoreContextMut<'_, Guest>, (): ()| {
        Ok((Datetime::of_ms(store.data().now_ms),))
    })?;
    instance.func_wrap("resolution", |_: StoreContextMut<'_, Guest>, (): ()| {
        Ok((Datetime::of_ms(1),))
    })
}
