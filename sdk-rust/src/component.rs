//! The component around a rule: exports for the broker, and the manifest as a custom section.
//!
//! Owns: the generated bindings, the only code here that is not safe Rust. `#[rule]` expands to `component!`.
//! Deliberately does not: decide anything.

/// Generated from the WIT package, the source of truth.
#[allow(
    missing_docs,
    unsafe_code,
    clippy::all,
    clippy::indexing_slicing,
    clippy::unwrap_used
)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../wit/tidegate-broker",
        world: "rule-with-lifecycle",
        pub_export_macro: true,
        default_bindings_module: "::tidegate::component::bindings",
    });
}

use std::cell::RefCell;

use bindings::exports::tidegate::broker::handler::{Failure, Outcome};

use crate::Rule;
use crate::batch::Instance;

/// Where a component keeps its instance: one thread calls it, one call at a time.
pub type Cell<R> = RefCell<Option<Instance<R>>>;

/// `lifecycle.init`.
pub fn init<R: Rule>(cell: &Cell<R>) -> Result<(), String> {
    let instance = Instance::start().map_err(|error| error.to_string())?;
    cell.replace(Some(instance));
    Ok(())
}

/// `handler.handle`.
#[inline]
pub fn handle<R: Rule>(cell: &Cell<R>, index: &[u32], arena: &[u8]) -> Result<Outcome, Failure> {
    let mut slot = cell.borrow_mut();
    let instance = slot
        .as_mut()
        .ok_or_else(|| Failure::Fatal("called before `lifecycle.init`".to_owned()))?;
    match instance.handle(index, arena) {
        Ok(packed) => Ok(Outcome {
            codes: packed.codes,
            effects: packed.effects,
            arena: packed.arena,
        }),
        Err(length) => Err(Failure::Fatal(format!(
            "index of {length} words does not hold whole messages"
        ))),
    }
}

/// Makes the crate a component that serves `$rule`.
#[macro_export]
#[doc(hidden)]
macro_rules! component {
    ($rule:ident) => {
        const _: () = {
            use $crate::component::bindings::exports::tidegate::broker::{handler, lifecycle};

            ::std::thread_local! {
                static INSTANCE: $crate::component::Cell<$rule> =
                    const { ::core::cell::RefCell::new(::core::option::Option::None) };
            }

            struct Component;

            impl lifecycle::Guest for Component {
                fn init() -> ::core::result::Result<(), ::std::string::String> {
                    INSTANCE.with($crate::component::init)
                }
            }

            impl handler::Guest for Component {
                fn handle(
                    index: ::std::vec::Vec<u32>,
                    arena: ::std::vec::Vec<u8>,
                ) -> ::core::result::Result<handler::Outcome, handler::Failure> {
                    INSTANCE.with(|cell| $crate::component::handle(cell, &index, &arena))
                }
            }

    $crate::component::bindings::export!(Component with_types_in $crate::component::bindings);
        };
    };
}
