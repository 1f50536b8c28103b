//! Standard output and standard error of a module, line by line into its log; standard input is at its end.
//!
//! Invariant: at most one unfinished line of [`LINE_BYTES_MAX`] is held per stream. A write never blocks: what can be waited
//! for is always ready. What would have to be waited for, such as a time, is not provided and traps.

use wasmtime::StoreContextMut;
use wasmtime::component::{ComponentType, Lift, Linker, Lower, Resource};

use super::Guest;
use super::log::{Level, LogGate};

/// An unfinished line is logged as it is when it grows over this.
const LINE_BYTES_MAX: usize = 4096;

/// How much one write may bring.
const WRITE_BYTES_MAX: u64 = 64 * 1024;

const STDOUT: u32 = 1;
const STDERR: u32 = 2;

/// One stream's unfinished line.
pub(crate) struct Lines {
    level: Level,
    line: Vec<u8>,
    last: Option<String>,
}

impl Lines {
    pub(crate) const fn new(level: Level) -> Self {
        Self {
            level,
            line: Vec::new(),
            last: None,
        }
    }

    pub(super) fn forget_last(&mut self) {
        self.last = None;
    }

    pub(super) fn take_last(&mut self) -> Option<String> {
        self.last.take()
    }

    fn write(&mut self, bytes: &[u8], log: &mut LogGate, now_ms: u64) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
            self.line.extend_from_slice(part.get(..room).unwrap_or(part));
            if part.ends_with(b"\n") || self.line.len() >= LINE_BYTES_MAX {
                self.flush(log, now_ms);
            }
        }
    }

    pub(super) fn flush(&mut self, log: &mut LogGate, now_ms: u64) {
        let text = String::from_utf8_lossy(&self.line);
        let text = text.trim_end();
        if !text.is_empty() {
            log.write(self.level, text, now_ms);
            self.last = Some(last_words(self.last.take(), text));
        }
        self.line.clear();
    }
}

/// A panic writes where, then why, then a hint: keep what began last with "panicked", else the newest line.
fn last_words(before: Option<String>, line: &str) -> String {
    match before {
        Some(words) if words.contains("panicked at") && words.len() + line.len() < LINE_BYTES_MAX => {
            if line.starts_with("note:") {
                words
            } else {
                format!("{words} {line}")
            }
        }
        _ => line.to_owned(),
    }
}

/// A handle of a guest. All WASI resources are one type here, as the traps define them.
type Stream = Resource<()>;
type Pollable = Resource<()>;
type Store<'a> = StoreContextMut<'a, Guest>;

#[derive(ComponentType, Lift, Lower)]
#[component(variant)]
enum StreamError {
    #[component(name = "last-operation-failed")]
    LastOperationFailed(Resource<()>),
    #[component(name = "closed")]
    Closed,
}

/// Defines `wasi:cli/stdout` or `wasi:cli/stderr` under the full name that the component imports.
pub(super) fn define_output(linker: &mut Linker<Guest>, name: &str, interface: &str) -> wasmtime::Result<()> {
    let (function, stream) = match interface {
        "wasi:cli/stdout" => ("get-stdout", STDOUT),
        _ => ("get-stderr", STDERR),
    };
    linker
        .instance(name)?
        .func_wrap(function, move |_: Store<'_>, (): ()| {
            Ok((Stream::new_own(stream),))
        })
}

/// Defines the output half of `wasi:io/streams` under the full name that the component imports.
pub(super) fn define_streams(linker: &mut Linker<Guest>, name: &str) -> wasmtime::Result<()> {
    type Written = wasmtime::Result<(Result<(), StreamError>,)>;
    let mut instance = linker.instance(name)?;
    instance.func_wrap(
        "[method]output-stream.check-write",
        |_: Store<'_>, (_,): (Stream,)| Ok((Ok::<u64, StreamError>(WRITE_BYTES_MAX),)),
    )?;
    for function in [
        "[method]output-stream.write",
        "[method]output-stream.blocking-write-and-flush",
    ] {
        instance.func_wrap(
            function,
            |mut store: Store<'_>, (stream, bytes): (Stream, Vec<u8>)| -> Written {
                let guest = store.data_mut();
                let lines = if stream.rep() == STDOUT {
                    &mut guest.stdout
                } else {
                    &mut guest.stderr
                };
                lines.write(&bytes, &mut guest.log, guest.now_ms);
                Ok((Ok(()),))
            },
        )?;
    }
    for function in [
        "[method]output-stream.flush",
        "[method]output-stream.blocking-flush",
    ] {
        instance.func_wrap(function, |_: Store<'_>, (_,): (Stream,)| -> Written {
            Ok((Ok(()),))
        })?;
    }
    instance.func_wrap(
        "[method]output-stream.subscribe",
        |_: Store<'_>, (_,): (Stream,)| Ok((Pollable::new_own(0),)),
    )
}

/// Defines `wasi:io/poll` under the full name that the component imports.
pub(super) fn define_poll(linker: &mut Linker<Guest>, name: &str) -> wasmtime::Result<()> {
    let mut instance = linker.instance(name)?;
    instance.func_wrap("[method]pollable.ready", |_: Store<'_>, (_,): (Pollable,)| {
        Ok((true,))
    })?;
    instance.func_wrap("[method]pollable.block", |_: Store<'_>, (_,): (Pollable,)| Ok(()))?;
    instance.func_wrap("poll", |_: Store<'_>, (pollables,): (Vec<Pollable>,)| {
        let ready: Vec<u32> = (0u32..).zip(&pollables).map(|(position, _)| position).collect();
        Ok((ready,))
    })
}
