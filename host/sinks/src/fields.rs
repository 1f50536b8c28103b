//! Values for SQL parameters, and the fields of a JSON body that become such values.
//!
//! Invariant: every number, text and nested value arrives as the publisher wrote it, or as a value from which the
//! same text follows. Deliberately does not: build a tree of the body; what is not asked for is skipped over.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Deserializer, from_str};

/// A value for a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'r> {
    /// SQL NULL.
    Null,
    /// A JSON boolean.
    Bool(bool),
    /// An integer that fits.
    Integer(i64),
    /// A number with a fraction or exponent.
    Real(f64),
    /// Text; also an integer that does not fit, and a nested JSON value, both as written.
    Text(Cow<'r, str>),
    /// Bytes that are not UTF-8.
    Blob(&'r [u8]),
}

impl<'r> Value<'r> {
    /// Text if `bytes` are UTF-8, else the bytes.
    pub fn text_or_blob(bytes: &'r [u8]) -> Self {
        std::str::from_utf8(bytes).map_or(Self::Blob(bytes), |text| Self::Text(text.into()))
    }
}

/// Why a record has no values for a template. The record can never be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the statement asks for field :{field}, and the body is not a JSON object: {cause}")]
pub struct BindError {
    /// The first field asked for.
    pub field: Box<str>,
    /// What is wrong with the body.
    pub cause: String,
}

/// The fields a template asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Fields {
    names: Vec<Box<str>>,
}

impl Fields {
    pub(crate) fn add(&mut self, name: &str) {
        self.names.push(name.into());
    }

    /// The values of the fields in the order in which they were added. A missing field is null; of a field that
    /// occurs twice the last counts.
    pub(crate) fn of<'r>(&self, body: &'r [u8]) -> Result<Vec<Value<'r>>, BindError> {
        let Some(first) = self.names.first() else {
            return Ok(Vec::new());
        };
        let refuse = |cause: serde_json::Error| BindError {
            field: first.clone(),
            cause: cause.to_string(),
        };
        let mut json = Deserializer::from_slice(body);
        let values = json.deserialize_map(Wanted(&self.names)).map_err(refuse)?;
        json.end().map_err(refuse)?;
        Ok(values)
    }
}

/// Picks the wanted fields out of an object.
struct Wanted<'n>(&'n [Box<str>]);

impl<'r> Visitor<'r> for Wanted<'_> {
    type Value = Vec<Value<'r>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'r>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = vec![Value::Null; self.0.len()];
        while let Some(index) = map.next_key_seed(IndexOf(self.0))? {
            match index.and_then(|index| values.get_mut(index)) {
                Some(value) => *value = value_of(map.next_value::<&'r RawValue>()?.get()),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(values)
    }
}

/// Which of the names a key is; no key is copied.
struct IndexOf<'n>(&'n [Box<str>]);

impl<'r> DeserializeSeed<'r> for IndexOf<'_> {
    type Value = Option<usize>;

    fn deserialize<D: serde::Deserializer<'r>>(self, key: D) -> Result<Self::Value, D::Error> {
        key.deserialize_str(self)
    }
}

impl Visitor<'_> for IndexOf<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| **name == *key))
    }
}

/// The value that a valid JSON text stands for.
fn value_of(json: &str) -> Value<'_> {
    match json.as_bytes().first() {
        Some(b'n') => Value::Null,
        Some(b't') => Value::Bool(true),
        Some(b'f') => Value::Bool(false),
        Some(b'"') => text_of(json),
        Some(b'{' | b'[') => Value::Text(json.into()),
        _ => number_of(json),
    }
}

fn text_of(json: &str) -> Value<'_> {
    let inner = json.get(1..json.len().saturating_sub(1)).unwrap_or_default();
    match inner.contains('\\') {
        false => Value::Text(inner.into()),
        // A text that cannot be decoded (a lone surrogate) is kept as written.
        true => Value::Text(from_str::<String>(json).map_or(inner.into(), Cow::Owned)),
    }
}

fn number_of(json: &str) -> Value<'_> {
    if let Ok(integer) = json.parse() {
        return Value::Integer(integer);
    }
    match json.contains(['.', 'e', 'E']) {
        // Finite or not: a number beyond f64 would not come back as written.
        true => match json.parse::<f64>() {
            Ok(real) if real.is_finite() => Value::Real(real),
            _ => Value::Text(json.into()),
        },
        false => Value::Text(json.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(names: &[&str], body: &'static str) -> Result<Vec<Value<'static>>, String> {
        let mut fields = Fields::default();
        names.iter().for_each(|name| fields.add(name));
        fields.of(body.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn json_values_map_to_sql_values() {
        let cases = [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("-17", Value::Integer(-17)),
            ("9223372036854775807", Value::Integer(i64::MAX)),
            ("18446744073709551615", Value::Text("18446744073709551615".into())),
            ("21.5", Value::Real(21.5)),
            ("1e3", Value::Real(1000.0)),
            ("1e999", Value::Text("1e999".into())),
            ("\"plain\"", Value::Text("plain".into())),
            (r#""a\n\u00e9\"""#, Value::Text("a\né\"".into())),
            ("[1, 2]", Value::Text("[1, 2]".into())),
            (r#"{"x": {"y": 1}}"#, Value::Text(r#"{"x": {"y": 1}}"#.into())),
        ];
        for (json, value) in cases {
            let body: &'static str = format!(r#" {{"other": [0], "f": {json}, "z": 1}} "#).leak();
            assert_eq!(fields(&["f"], body), Ok(vec![value]), "{json}");
        }
    }

    #[test]
    fn a_missing_field_is_null_and_the_last_of_two_counts() {
        let body = r#"{"a": 1, "b": "x", "a": 2}"#;
        let expected = vec![Value::Null, Value::Integer(2), Value::Text("x".into())];
        assert_eq!(fields(&["c", "a", "b"], body), Ok(expected));
    }

    #[test]
    fn an_escaped_key_is_the_same_key() {
        assert_eq!(
            fields(&["grün"], r#"{"gr\u00fcn": 1}"#),
            Ok(vec![Value::Integer(1)])
        );
    }

    #[test]
    fn a_body_that_is_no_object_is_refused_with_the_reason() {
        for (body, part) in [
            ("", "EOF"),
            ("21.5", "expected an object"),
            ("[1]", "expected an object"),
            (r#"{"a": 1"#, "EOF"),
            (r#"{"a": 1} x"#, "trailing characters"),
            (r#"{"a": 01}"#, "invalid number"),
        ] {
            let error = fields(&["a"], body).unwrap_err();
            assert!(
                error.contains("asks for field :a") && error.contains(part),
                "{body}: {error}"
            );
        }
    }

    #[test]
    fn a_body_is_not_read_when_no_field_is_asked_for() {
        assert_eq!(fields(&[], "not JSON"), Ok(vec![]));
    }
}
