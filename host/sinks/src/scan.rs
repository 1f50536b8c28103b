//! Finds the named parameters in the text of a statement.
//!
//! Invariant: what stands in quotes or comments is never taken for a parameter, and every other form of placeholder
//! is refused. Deliberately does not: know any more of SQL than that.

/// Where a statement's text differs between databases, as far as finding parameters goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `[name]` is quoted; a backslash is an ordinary character.
    Sqlite,
    /// A backslash escapes inside quotes; `#` begins a comment.
    Mysql,
}

/// Why a text is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// Nothing would be stored of any record.
    #[error("the statement has no parameter; name values as in VALUES (:record_id, :payload)")]
    NoParameter,
    /// A placeholder of another kind.
    #[error("the statement has {form:?} at byte {at}; parameters are written as :name")]
    OtherPlaceholder {
        /// What was found.
        form: String,
        /// Where.
        at: usize,
    },
    /// A quote or comment that does not end.
    #[error("the statement's {what} that begins at byte {at} does not end")]
    Unterminated {
        /// Quote or comment.
        what: &'static str,
        /// Where it begins.
        at: usize,
    },
    /// More than one statement, of which databases run one or none.
    #[error("the statement goes on after ';' at byte {at}; a template is one statement")]
    SecondStatement {
        /// Where the `;` is.
        at: usize,
    },
}

/// Walks over a statement, passing by quotes and comments.
pub(crate) struct Scan<'t> {
    text: &'t str,
    dialect: Dialect,
    at: usize,
}

impl<'t> Scan<'t> {
    pub(crate) fn new(text: &'t str, dialect: Dialect) -> Self {
        Self { text, dialect, at: 0 }
    }

    /// How far the walk has come, in bytes.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The next `:name`: where it begins and the name. `at` is behind it.
    pub(crate) fn next_parameter(&mut self) -> Result<Option<(usize, &'t str)>, TemplateError> {
        while let Some(byte) = self.peek(0) {
            let at = self.at;
            match (byte, self.peek(1)) {
                (b'\'' | b'"' | b'`', _) => self.skip_quoted(byte)?,
                (b'[', _) if self.dialect == Dialect::Sqlite => self.skip_past("]", "quoted name", 1)?,
                (b'-', Some(b'-')) => self.skip_line(),
                (b'#', _) if self.dialect == Dialect::Mysql => self.skip_line(),
                (b'/', Some(b'*')) => self.skip_past("*/", "comment", 2)?,
                (b':', Some(next)) if is_name_start(next) => {
                    self.at += 1;
                    return Ok(Some((at, self.take_name())));
                }
                (b';', _) => self.end(at)?,
                (b'?' | b':' | b'@' | b'$', _) => return Err(self.other_placeholder(at)),
                _ if is_name_start(byte) => self.skip_word(),
                _ => self.at += 1,
            }
        }
        Ok(None)
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn take_name(&mut self) -> &'t str {
        let rest = self.rest();
        let len = rest
            .bytes()
            .position(|byte| !is_name_start(byte) && !byte.is_ascii_digit())
            .unwrap_or(rest.len());
        self.at += len;
        rest.get(..len).unwrap_or_default()
    }

    /// A word of SQL; those may hold `$` and `#`, parameters may not.
    fn skip_word(&mut self) {
        let rest = self.rest();
        let in_word = |byte: u8| is_name_start(byte) || byte.is_ascii_digit() || matches!(byte, b'$' | b'#');
        self.at += rest.bytes().position(|byte| !in_word(byte)).unwrap_or(rest.len());
    }

    /// A doubled quote inside is two quoted texts side by side, which comes to the same.
    fn skip_quoted(&mut self, quote: u8) -> Result<(), TemplateError> {
        let begin = self.at;
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            if byte == b'\\' && self.dialect == Dialect::Mysql && quote != b'`' {
                self.at += 1;
            } else if byte == quote {
                return Ok(());
            }
        }
        Err(TemplateError::Unterminated {
            what: "quote",
            at: begin,
        })
    }

    fn skip_past(&mut self, end: &str, what: &'static str, opening: usize) -> Result<(), TemplateError> {
        let begin = self.at;
        self.at += opening;
        let found = self
            .rest()
            .find(end)
            .ok_or(TemplateError::Unterminated { what, at: begin })?;
        self.at += found + end.len();
        Ok(())
    }

    fn skip_line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    /// Behind a `;` only white space may stand.
    fn end(&mut self, at: usize) -> Result<(), TemplateError> {
        self.at += 1;
        match self.rest().trim_matches([';', ' ', '\n', '\r', '\t']).is_empty() {
            true => {
                self.at = self.text.len();
                Ok(())
            }
            false => Err(TemplateError::SecondStatement { at }),
        }
    }

    fn other_placeholder(&self, at: usize) -> TemplateError {
        let form = self
            .rest()
            .chars()
            .take_while(|c| !c.is_whitespace() && !",()".contains(*c))
            .take(16)
            .collect();
        TemplateError::OtherPlaceholder { form, at }
    }
}

/// Bytes of names, those beyond ASCII included.
fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}
