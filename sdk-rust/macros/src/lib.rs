//! The `#[rule]` attribute. Use it through the `tidegate` crate.
//!
//! Owns: reading the signature and finding the manifest.
//! Deliberately does not: contain behaviour. What it generates is one trait implementation and a call of
//! `tidegate::component!`.

mod expand;
mod signature;

use proc_macro::TokenStream;

/// Makes a function a rule, and its crate a component when built for `wasm32-wasip2`.
///
/// The function keeps its name and can be called as before. Its arguments, of which the first and the last may be left out:
///
/// ```text
/// #[rule]
/// fn clean(
///     reading: Json<Reading>,      // the payload, read; what is no Reading becomes a dead letter
///     message: &Message<'_>,
///     effects: &mut Effects,
///     limits: &Limits,             // anything that implements Settings, made once per instance
/// ) -> Result<Verdict, Error>      // or Verdict, or any error that has a text
/// ```
///
/// The manifest is `module.toml` beside the package's `Cargo.toml`, or what `#[rule(manifest = "path")]` names. It
/// travels in the component. A crate has one rule.
#[proc_macro_attribute]
pub fn rule(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::rule(arguments.into(), item.into())
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
