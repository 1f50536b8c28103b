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
