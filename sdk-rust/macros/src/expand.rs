//! From a function to a rule: the trait implementation, the component and the manifest.

use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{ParseStream, Parser as _};
use syn::{Error, Ident, ItemFn, LitStr, Result, Token};

use crate::signature::Signature;

pub(crate) fn rule(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let function: ItemFn = syn::parse2(item)?;
    let signature = Signature::read(&function)?;
    let manifest = manifest(arguments, &function)?;
    let (name, visibility) = (&function.sig.ident, &function.vis);
    let settings = signature
        .settings
        .as_ref()
        .map_or_else(|| quote!(()), |settings| quote!(#settings));
    let payload = signature.payload.then(|| quote!(payload,));
    let read = signature.payload.then(|| {
        quote! {
            let payload = match ::tidegate::Json::read(message) {
                ::core::result::Result::Ok(payload) => payload,
                ::core::result::Result::Err(error) => {
                    return ::core::result::Result::Err(::std::string::ToString::to_string(&error));
                }
            };
        }
    });
    let configured = signature.settings.is_some().then(|| quote!(settings));
    Ok(quote! {
        #function

        // A type beside the function of the same name: types and functions are looked up apart.
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #visibility enum #name {}

        impl ::tidegate::Rule for #name {
            type Settings = #settings;
            const MANIFEST: &'static str = ::core::include_str!(#manifest);

            #[inline]
            #[allow(unused_variables)]
            fn decide(
                settings: &Self::Settings,
                message: &::tidegate::Message<'_>,
                effects: &mut ::tidegate::Effects,
            ) -> ::core::result::Result<::tidegate::Verdict, ::std::string::String> {
                #read
                ::tidegate::IntoVerdict::into_verdict(#name(#payload message, effects, #configured))
            }
        }

        #[cfg(target_arch = "wasm32")]
        const _: () = {
            ::tidegate::component!(#name);

            // The section is the broker's way to the manifest: wit/README.md.
            #[allow(unsafe_code)]
            #[used]
            #[unsafe(link_section = "tidegate:manifest")]
            static MANIFEST: [u8; ::core::include_bytes!(#manifest).len()] = *::core::include_bytes!(#manifest);
        };
    })
}

/// Absolute path of the manifest. The generated `include_str!` makes the compiler watch it.
fn manifest(arguments: TokenStream, function: &ItemFn) -> Result<String> {
    let named = named_manifest(arguments)?;
    let span = named
        .as_ref()
        .map_or_else(|| function.sig.ident.span(), LitStr::span);
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .ok_or_else(|| Error::new(span, "CARGO_MANIFEST_DIR is not set: build with cargo"))?;
    let path = package.join(named.map_or_else(|| "module.toml".to_owned(), |name| name.value()));
    present(&path).map_err(|reason| Error::new(span, reason))?;
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| Error::new(span, format!("{} is not a UTF-8 path", path.display())))
}

fn named_manifest(arguments: TokenStream) -> Result<Option<LitStr>> {
    if arguments.is_empty() {
        return Ok(None);
    }
    let parser = |input: ParseStream<'_>| {
        let key: Ident = input.parse()?;
        if key != "manifest" {
            return Err(Error::new(key.span(), "only `manifest = \"path\"` is known here"));
        }
        input.parse::<Token![=]>()?;
        input.parse().map(Some)
    };
    parser.parse2(arguments)
}

fn present(path: &Path) -> std::result::Result<(), String> {
    match std::fs::read_to_string(path) {
        Ok(text) if text.trim().is_empty() => Err(format!("the manifest {} is empty", path.display())),
        Ok(_) => Ok(()),
        Err(error) => Err(format!(
            "a rule needs its manifest {}, which cannot be read: {error}. The smallest one is two lines: \
             name = \"{}\" and version = \"0.1.0\"",
            path.display(),
            std::env::var("CARGO_PKG_NAME").unwrap_or_else(|_| "my-rule".to_owned()),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::rule;
    use quote::quote;

    fn refused(arguments: proc_macro2::TokenStream) -> String {
        let function = quote!(
            fn clean(m: &Message<'_>, e: &mut Effects) -> Verdict {}
        );
        rule(arguments, function)
            .expect_err("must be refused")
            .to_string()
    }

    #[test]
    fn a_missing_manifest_is_named_with_the_smallest_one_that_would_do() {
        // This package has no module.toml of its own.
        let error = refused(quote!());
        for part in [
            "macros/module.toml",
            "name = \"tidegate-macros\"",
            "version = \"0.1.0\"",
        ] {
            assert!(error.contains(part), "{part} in {error}");
        }
        assert!(refused(quote!(manifest = "elsewhere.toml")).contains("elsewhere.toml"));
    }

    #[test]
    fn unknown_arguments_are_refused() {
        assert!(refused(quote!(manifesto = "a.toml")).contains("only `manifest = \"path\"`"));
    }
}
