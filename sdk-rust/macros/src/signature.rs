//! Which arguments a rule has. By position and by reference: the compiler checks the types where they are used.

use syn::spanned::Spanned as _;
use syn::{Error, FnArg, ItemFn, Result, Type};

const SHAPE: &str = "a rule is `fn(&Message<'_>, &mut Effects)`, with an optional `Json<T>` in front and optional \
                     `&Settings` behind";

/// The optional arguments of a rule.
pub(crate) struct Signature {
    /// Whether the payload comes first, read.
    pub(crate) payload: bool,
    /// Type behind the reference that comes last.
    pub(crate) settings: Option<Type>,
}

impl Signature {
    pub(crate) fn read(function: &ItemFn) -> Result<Self> {
        let signature = &function.sig;
        let refuse = |part: &dyn ToSpan| Err(Error::new(part.to_span(), SHAPE));
        if let Some(keyword) = &signature.asyncness {
            return Err(Error::new(
                keyword.span(),
                "a rule never waits: it cannot be async",
            ));
        }
        if signature.generics.type_params().next().is_some() {
            return Err(Error::new(
                signature.generics.span(),
                "a rule has no type parameters",
            ));
        }
        let mut types = Vec::new();
        for argument in &signature.inputs {
            match argument {
                FnArg::Typed(typed) => types.push(&*typed.ty),
                FnArg::Receiver(receiver) => return refuse(receiver),
            }
        }
        let (payload, rest) = match types.split_first() {
            Some((first, rest)) if !matches!(first, Type::Reference(_)) => (true, rest),
            _ => (false, types.as_slice()),
        };
        match rest {
            [message, effects] if shared(message).is_some() && exclusive(effects) => Ok(Self {
                payload,
                settings: None,
            }),
            [message, effects, settings] if shared(message).is_some() && exclusive(effects) => {
                match shared(settings) {
                    Some(settings) => Ok(Self {
                        payload,
                        settings: Some(settings.clone()),
                    }),
                    None => refuse(settings),
                }
            }
            _ => refuse(&signature.inputs),
        }
    }
}

trait ToSpan {
    fn to_span(&self) -> proc_macro2::Span;
}

impl<T: syn::spanned::Spanned> ToSpan for T {
    fn to_span(&self) -> proc_macro2::Span {
        self.span()
    }
}

fn shared(argument: &Type) -> Option<&Type> {
    match argument {
        Type::Reference(reference) if reference.mutability.is_none() => Some(&reference.elem),
        _ => None,
    }
}

fn exclusive(argument: &Type) -> bool {
    matches!(argument, Type::Reference(reference) if reference.mutability.is_some())
}

#[cfg(test)]
mod tests {
    use super::Signature;
    use quote::{ToTokens as _, quote};

    #[test]
    fn arguments_are_told_apart_by_position_and_reference() {
        for (arguments, payload, settings) in [
            (quote!(m: &Message<'_>, e: &mut Effects), false, None),
            (quote!(p: Json<u8>, m: &Message<'_>, e: &mut Effects), true, None),
            (
                quote!(m: &Message<'_>, e: &mut Effects, s: &a::Limits),
                false,
                Some("a :: Limits"),
            ),
            (
                quote!(Json(p): Json<u8>, _: &Message<'_>, _: &mut Effects, s: &S),
                true,
                Some("S"),
            ),
        ] {
            let function = syn::parse_quote!(fn f(#arguments) -> Verdict {});
            let signature = Signature::read(&function).expect("a rule");
            assert_eq!(signature.payload, payload, "{arguments}");
            let found = signature
                .settings
                .map(|settings| settings.to_token_stream().to_string());
            assert_eq!(found.as_deref(), settings, "{arguments}");
        }
    }

    #[test]
    fn other_shapes_are_refused_with_the_right_one() {
        for function in [
            quote!(
                fn f() {}
            ),
            quote!(
                fn f(m: &Message<'_>) {}
            ),
            quote!(
                fn f(m: &Message<'_>, e: Effects) {}
            ),
            quote!(
                fn f(m: &Message<'_>, e: &Effects) {}
            ),
            quote!(
                fn f(e: &mut Effects, m: &Message<'_>) {}
            ),
            quote!(
                fn f(m: &Message<'_>, e: &mut Effects, s: Limits) {}
            ),
            quote!(
                fn f(&self, m: &Message<'_>, e: &mut Effects) {}
            ),
            quote!(
                async fn f(m: &Message<'_>, e: &mut Effects) {}
            ),
            quote!(
                fn f<T>(m: &Message<'_>, e: &mut Effects) {}
            ),
        ] {
            let text = function.to_string();
            let error = Signature::read(&syn::parse2(function).expect("a function"))
                .err()
                .expect(&text);
            assert!(error.to_string().contains("a rule "), "{text}: {error}");
        }
    }
}
