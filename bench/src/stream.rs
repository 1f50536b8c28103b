//! Reading and writing a non-blocking socket once, with "not now" as a value.

use std::io::{self, ErrorKind, Read, Write};

/// What a read gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// So many bytes; `more` when the buffer was filled, so that there may be others behind them.
    Bytes {
        /// Bytes at the start of the buffer.
        count: usize,
        /// Whether to read again without waiting for an event.
        more: bool,
    },
    /// Nothing is there.
    Nothing,
    /// The other side closed.
    End,
}

/// Reads once.
#[inline]
pub fn receive(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<Received> {
    loop {
        return match stream.read(buffer) {
            Ok(0) => Ok(Received::End),
            Ok(count) => Ok(Received::Bytes {
                count,
                more: count == buffer.len(),
            }),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Received::Nothing),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
    }
}

/// Writes once and gives the number of bytes that the kernel took.
#[inline]
pub fn send(stream: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
    loop {
        return match stream.write(bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            other => other,
        };
    }
}
