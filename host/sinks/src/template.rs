//! A statement template with named parameters, for every sink that speaks SQL.
//!
//! `INSERT INTO t (a, b) VALUES (:record_id, :temperature)`: built-in names come from the record, any other name is
//! the field of that name at the top level of the record's JSON body. Invariant: a parsed template has exactly one
//! statement and at least one parameter. Deliberately does not: know SQL; the database checks the statement itself.

use std::borrow::Cow;

use crate::fields::Fields;
use crate::scan::Scan;
use crate::{BindError, Dialect, Record, TemplateError, Value};

/// Where the value of a parameter comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Param {
    /// `:record_id` or `:id`: the record's identity as text.
    RecordId,
    /// `:client_id`: the publishing client, null for the broker's own messages.
    ClientId,
    /// `:topic`
    Topic,
    /// `:qos`: 0, 1 or 2.
    Qos,
    /// `:payload`: the whole body, text if it is UTF-8, else bytes.
    Payload,
    /// `:received_at`: milliseconds since the Unix epoch.
    ReceivedAt,
    /// `:key`: the partition key, null if the record has none of its own.
    Key,
    /// Any other name: that field of the JSON body.
    Field(Box<str>),
}

impl Param {
    fn named(name: &str) -> Self {
        match name {
            "record_id" | "id" => Self::RecordId,
            "client_id" => Self::ClientId,
            "topic" => Self::Topic,
            "qos" => Self::Qos,
            "payload" => Self::Payload,
            "received_at" => Self::ReceivedAt,
            "key" => Self::Key,
            field => Self::Field(field.into()),
        }
    }
}

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Text before each use of a parameter and the parameter's index; then the text after the last.
    uses: Vec<(Box<str>, usize)>,
    tail: Box<str>,
    params: Vec<Param>,
    fields: Fields,
}

impl Template {
    /// Parses `text`.
    pub fn parse(text: &str, dialect: Dialect) -> Result<Self, TemplateError> {
        let mut template = Self {
            uses: Vec::new(),
            tail: "".into(),
            params: Vec::new(),
            fields: Fields::default(),
        };
        let mut scan = Scan::new(text, dialect);
        let mut from = 0;
        while let Some((at, name)) = scan.next_parameter()? {
            let before = text.get(from..at).unwrap_or_default();
            let index = template.index_of(Param::named(name));
            template.uses.push((before.into(), index));
            from = scan.at();
        }
        template.tail = text
            .get(from..)
            .unwrap_or_default()
            .trim_end_matches([';', ' ', '\n', '\r', '\t'])
            .into();
        if template.uses.is_empty() {
            return Err(TemplateError::NoParameter);
        }
        Ok(template)
    }

    /// The distinct parameters, in order of first use.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// The statement with `placeholder(index)` for every use of `params()[index]`.
    pub fn render(&self, placeholder: impl Fn(usize) -> String) -> String {
        let mut text = String::new();
        for (before, index) in &self.uses {
            text.push_str(before);
            text.push_str(&placeholder(*index));
        }
        text.push_str(&self.tail);
        text
    }

    /// Writes the value of each parameter for `record` into `values`, which is emptied first.
    pub fn bind<'r>(&self, record: &'r Record, values: &mut Vec<Value<'r>>) -> Result<(), BindError> {
        values.clear();
        let mut fields = self.fields.of(&record.body)?.into_iter();
        values.extend(self.params.iter().map(|param| {
            match param {
                Param::RecordId => Value::Text(Cow::Owned(record.id.to_string())),
                Param::ClientId => record
                    .client_id
                    .as_ref()
                    .map_or(Value::Null, |client| Value::Text(client.as_str().into())),
                Param::Topic => Value::Text(record.topic.as_str().into()),
                Param::Qos => Value::Integer(record.qos as i64),
                Param::Payload => Value::text_or_blob(&record.body),
                Param::ReceivedAt => Value::Integer(i64::try_from(record.received_at_ms).unwrap_or(i64::MAX)),
                Param::Key => record
                    .key
                    .as_ref()
                    .map_or(Value::Null, |key| Value::text_or_blob(key)),
                Param::Field(_) => fields.next().unwrap_or(Value::Null),
            }
        }));
        Ok(())
    }

    fn index_of(&mut self, param: Param) -> usize {
        if let Some(index) = self.params.iter().position(|known| *known == param) {
            return index;
        }
        if let Param::Field(name) = &param {
            self.fields.add(name);
        }
        self.params.push(param);
        self.params.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::fake::record;

    fn render(text: &str, dialect: Dialect) -> Result<String, String> {
        let template = Template::parse(text, dialect).map_err(|error| error.to_string())?;
        Ok(template.render(|index| format!("?{}", index + 1)))
    }

    #[test]
    fn names_become_placeholders_and_a_name_used_twice_is_one_parameter() {
        let text = "INSERT INTO t (a, b, c) VALUES (:id,:x, :id) ;\n";
        assert_eq!(
            render(text, Dialect::Sqlite).as_deref(),
            Ok("INSERT INTO t (a, b, c) VALUES (?1,?2, ?1)")
        );
        let template = Template::parse(text, Dialect::Sqlite).unwrap();
        assert_eq!(template.params(), [Param::RecordId, Param::Field("x".into())]);
    }

    #[test]
    fn quotes_comments_and_words_are_passed_by() {
        let both = [
            "VALUES (':no', \":no\", `:no`, 'it''s :no', ?1)",
            "VALUES (?1) -- :no",
            "VALUES (/* :no */ ?1)",
            "VALUES (a$b, c#d, ?1, '$.path')",
        ];
        for expected in both {
            let text = expected.replace("?1", ":yes");
            assert_eq!(render(&text, Dialect::Sqlite).as_deref(), Ok(expected));
        }
        let bracket = render("SELECT [:no], :yes", Dialect::Sqlite);
        assert_eq!(bracket.as_deref(), Ok("SELECT [:no], ?1"));
        let escaped = render("SELECT 'it\\'s :no', :yes # :no", Dialect::Mysql);
        assert_eq!(escaped.as_deref(), Ok("SELECT 'it\\'s :no', ?1 # :no"));
    }

    #[test]
    fn what_is_no_template_is_refused_with_the_place() {
        let cases = [
            ("INSERT INTO t VALUES (1)", "no parameter"),
            ("VALUES (?, :a)", "\"?\" at byte 8"),
            ("VALUES (:a, @b)", "\"@b\" at byte 12"),
            ("VALUES ($1)", "\"$1\" at byte 8"),
            ("VALUES (:1)", "\":1\" at byte 8"),
            ("VALUES (:a::text)", "\"::text\" at byte 10"),
            ("VALUES (:a, 'x", "quote that begins at byte 12"),
            ("VALUES (:a) /* x", "comment that begins at byte 12"),
            (
                "INSERT INTO t VALUES (:a); DROP TABLE t",
                "goes on after ';' at byte 25",
            ),
        ];
        for (text, part) in cases {
            let error = render(text, Dialect::Sqlite).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn values_come_from_the_record_and_its_body() {
        let text = "VALUES (:id, :client_id, :topic, :qos, :payload, :received_at, :key, :t, :none)";
        let template = Template::parse(text, Dialect::Sqlite).unwrap();
        let record = record(7, "k", br#"{"t": 21.5}"#);
        let mut values = Vec::new();
        template.bind(&record, &mut values).unwrap();
        let body = Value::Text(r#"{"t": 21.5}"#.into());
        let text = |text: &'static str| Value::Text(text.into());
        let expected = vec![
            text("1-7-0"),
            text("client"),
            text("plant/7"),
            Value::Integer(1),
            body,
            Value::Integer(1_700_000_000_007),
            text("k"),
            Value::Real(21.5),
            Value::Null,
        ];
        assert_eq!(values, expected);
        let record = Record {
            body: Bytes::from_static(b"\xff"),
            ..record.clone()
        };
        assert!(
            template
                .bind(&record, &mut values)
                .unwrap_err()
                .to_string()
                .contains(":t")
        );
    }

    #[test]
    fn a_payload_that_is_not_text_is_bytes() {
        let template = Template::parse("VALUES (:payload)", Dialect::Mysql).unwrap();
        let record = record(7, "k", b"\xff\x00");
        let mut values = Vec::new();
        template.bind(&record, &mut values).unwrap();
        assert_eq!(values, [Value::Blob(b"\xff\x00")]);
    }
}
