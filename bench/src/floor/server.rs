//! The floor's loop, once per thread, each with a listener of its own on the shared port.
//!
//! Invariant: a connection with unwritten answers is not read, so that nothing grows without bound.

use std::io;
use std::net::SocketAddr;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};
use slab::Slab;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tidegate_codec::Version;

use super::answer::{Fate, answer};
use crate::stream::{self, Received};
use crate::wire::take_frame;

const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);
const READ_BYTES: usize = 256 * 1024;
const BACKLOG: i32 = 4096;

/// A running floor server; it ends when this is dropped.
#[derive(Debug)]
pub struct Floor {
    /// Where it listens.
    pub address: SocketAddr,
    threads: Vec<(Waker, JoinHandle<io::Result<()>>)>,
}

impl Floor {
    /// Waits for the threads: for ever, unless one of them fails.
    pub fn join(mut self) -> io::Result<()> {
        for (waker, thread) in self.threads.drain(..) {
            let ended = thread.join();
            drop(waker);
            ended.map_err(|_| io::Error::other("a floor thread panicked"))??;
        }
        Ok(())
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        for (waker, thread) in self.threads.drain(..) {
            // A thread that cannot be woken has ended already.
            let _ = waker.wake();
            let _ = thread.join();
        }
    }
}

/// Starts `threads` threads on `bind`; port 0 takes any.
pub fn start(bind: SocketAddr, threads: usize) -> io::Result<Floor> {
    let first = listen(bind)?;
    let address = first.local_addr()?;
    let mut listeners = vec![first];
    while listeners.len() < threads {
        listeners.push(listen(address)?);
    }
    let mut running = Floor {
        address,
        threads: Vec::new(),
    };
    for (turn, listener) in listeners.into_iter().enumerate() {
        let server = Server::new(listener)?;
        let waker = Waker::new(server.poll.registry(), WAKER)?;
        let thread = thread::Builder::new()
            .name(format!("floor-{turn}"))
            .spawn(move || server.run())?;
        running.threads.push((waker, thread));
    }
    Ok(running)
}

fn listen(bind: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(bind), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.bind(&bind.into())?;
    socket.listen(BACKLOG)?;
    Ok(TcpListener::from_std(socket.into()))
}

/// A connection: as small as it gets, since memory per connection is a floor too.
struct Connection {
    stream: TcpStream,
    version: Version,
    rest: Option<Box<Rest>>,
}

/// What only a connection in the middle of something has.
#[derive(Default)]
struct Rest {
    partial: Vec<u8>,
    unsent: Vec<u8>,
    is_unread: bool,
}

struct Server {
    poll: Poll,
    listener: TcpListener,
    connections: Slab<Connection>,
    buffer: Vec<u8>,
    /// Answers of this tick, one behind the other, and whose they are.
    answers: Vec<u8>,
    answered: Vec<(usize, usize)>,
    again: Vec<usize>,
    /// Closed in this tick: their places are reused only in the next one.
    closed: Vec<usize>,
}

impl Server {
    fn new(mut listener: TcpListener) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            poll,
            listener,
            connections: Slab::new(),
            buffer: vec![0; READ_BYTES],
            answers: Vec::new(),
            answered: Vec::new(),
            again: Vec::new(),
            closed: Vec::new(),
        })
    }

    fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        loop {
            let timeout = (!self.again.is_empty()).then_some(Duration::ZERO);
            match self.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for at in std::mem::take(&mut self.again) {
                self.read(at);
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept(),
                    WAKER => return Ok(()),
                    Token(at) => {
                        if event.is_writable() {
                            self.flush(at);
                        }
                        if event.is_readable() || event.is_read_closed() {
                            self.read(at);
                        }
                        if event.is_read_closed() {
                            self.again.push(at);
                        }
                    }
                }
            }
            self.write();
            self.bury();
        }
    }

    fn accept(&mut self) {
        // An error ends this round: WouldBlock because nobody waits, any other because trying again now cannot help.
        while let Ok((mut stream, _)) = self.listener.accept() {
            let entry = self.connections.vacant_entry();
            let interest = Interest::READABLE | Interest::WRITABLE;
            let registered = self
                .poll
                .registry()
                .register(&mut stream, Token(entry.key()), interest);
            if stream.set_nodelay(true).is_ok() && registered.is_ok() {
                entry.insert(Connection {
                    stream,
                    version: Version::V311,
                    rest: None,
                });
            }
        }
    }

    fn read(&mut self, at: usize) {
        let Some(connection) = self.connections.get_mut(at) else {
            return;
        };
        if let Some(rest) = connection.rest.as_mut().filter(|rest| !rest.unsent.is_empty()) {
            rest.is_unread = true;
            return;
        }
        let count = match stream::receive(&mut connection.stream, &mut self.buffer) {
            Ok(Received::Bytes { count, more }) => {
                if more {
                    self.again.push(at);
                }
                count
            }
            Ok(Received::Nothing) => return,
            Ok(Received::End) | Err(_) => return self.closed.push(at),
        };
        let read = self.buffer.get(..count).unwrap_or_default();
        let start = self.answers.len();
        let kept = match connection
            .rest
            .as_mut()
            .map(|rest| std::mem::take(&mut rest.partial))
        {
            Some(mut partial) if !partial.is_empty() => {
                partial.extend_from_slice(read);
                frames(&partial, &mut connection.version, &mut self.answers)
            }
            _ => frames(read, &mut connection.version, &mut self.answers),
        };
        match kept {
            None => self.closed.push(at),
            Some(partial) if partial.is_empty() => connection.rest = None,
            Some(partial) => connection.rest.get_or_insert_default().partial = partial,
        }
        if self.answers.len() > start {
            self.answered.push((at, self.answers.len()));
        }
    }

    /// Writes the answers of this tick, one write per connection.
    fn write(&mut self) {
        let mut start = 0;
        for &(at, end) in &self.answered {
            let bytes = self.answers.get(start..end).unwrap_or_default();
            start = end;
            let Some(connection) = self.connections.get_mut(at) else {
                continue;
            };
            if let Some(rest) = connection.rest.as_mut().filter(|rest| !rest.unsent.is_empty()) {
                rest.unsent.extend_from_slice(bytes);
                continue;
            }
            match stream::send(&mut connection.stream, bytes) {
                Ok(count) if count == bytes.len() => {}
                Ok(count) => {
                    let unsent = bytes.get(count..).unwrap_or_default().to_vec();
                    connection.rest.get_or_insert_default().unsent = unsent;
                }
                Err(_) => self.closed.push(at),
            }
        }
        self.answers.clear();
        self.answered.clear();
    }

    /// Writes what the kernel did not take earlier, and reads on when all of it went.
    fn flush(&mut self, at: usize) {
        let Some(connection) = self.connections.get_mut(at) else {
            return;
        };
        let Some(rest) = connection.rest.as_mut().filter(|rest| !rest.unsent.is_empty()) else {
            return;
        };
        match stream::send(&mut connection.stream, &rest.unsent) {
            Ok(count) => {
                rest.unsent.drain(..count);
                if rest.unsent.is_empty() && std::mem::take(&mut rest.is_unread) {
                    self.again.push(at);
                }
            }
            Err(_) => self.closed.push(at),
        }
    }

    fn bury(&mut self) {
        for at in std::mem::take(&mut self.closed) {
            if let Some(mut connection) = self.connections.try_remove(at) {
                // Without TIME_WAIT: the next run needs the ports. Failing to deregister a closed socket is no loss.
                let _ = SockRef::from(&connection.stream).set_linger(Some(Duration::ZERO));
                let _ = self.poll.registry().deregister(&mut connection.stream);
            }
        }
    }
}

/// Answers the packets in `bytes` and gives back what is incomplete; `None` when the connection must be closed.
fn frames(bytes: &[u8], version: &mut Version, answers: &mut Vec<u8>) -> Option<Vec<u8>> {
    let mut input = bytes;
    while let Some(frame) = take_frame(&mut input).ok()? {
        match answer(&frame, *version, answers) {
            Fate::Keep(kept) => *version = kept,
            Fate::Close => return None,
        }
    }
    Some(input.to_vec())
}
