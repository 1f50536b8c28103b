//! What is wrong with a configuration, all of it, each with its line.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line in the file, from 1; 0 for flags.
    pub line: usize,
    /// What is wrong and what to do.
    pub text: String,
}

/// Everything that is wrong with one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    path: PathBuf,
    /// In the order of the file.
    pub list: Vec<Problem>,
}

impl std::error::Error for Problems {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        for (index, problem) in self.list.iter().enumerate() {
            let newline = if index == 0 { "" } else { "\n" };
            match problem.line {
                0 => write!(f, "{newline}{path}: {}", problem.text)?,
                line => write!(f, "{newline}{path}:{line}: {}", problem.text)?,
            }
        }
        Ok(())
    }
}

/// Collects problems while a file is read.
pub struct Collector<'a> {
    path: &'a Path,
    text: &'a str,
    list: Vec<Problem>,
}

impl<'a> Collector<'a> {
    pub fn new(path: &'a Path, text: &'a str) -> Self {
        Self {
            path,
            text,
            list: Vec::new(),
        }
    }

    /// Notes what is wrong at a byte range of the file.
    pub fn at(&mut self, span: Range<usize>, text: impl Into<String>) {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        self.list.push(Problem {
            line,
            text: text.into(),
        });
    }

    /// Notes an error of the TOML reader.
    pub fn toml(&mut self, error: &toml::de::Error) {
        self.at(error.span().unwrap_or(0..0), error.message());
    }

    /// The problems in file order, if any.
    pub fn finish(mut self) -> Result<(), Problems> {
        if self.list.is_empty() {
            return Ok(());
        }
        self.list.sort_by_key(|problem| problem.line);
        Err(Problems {
            path: self.path.to_owned(),
            list: self.list,
        })
    }
}
