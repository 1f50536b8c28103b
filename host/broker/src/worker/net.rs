//! The sockets of one worker: who is readable, who has something to write, and the buffers they share.

use std::collections::VecDeque;
use std::io;
use std::net::Shutdown;

use bytes::BytesMut;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use slab::Slab;
use tidegate_codec::{Packet, encode};

use super::connection::Connection;

/// Bytes one read takes at most. Larger saves calls on saturated sockets, smaller keeps ticks fair.
const READ_BYTES: usize = 64 << 10;

/// Outbox buffers kept for the next tick, and the size up to which one is worth keeping.
const POOL_MAX: usize = 1_024;
const POOLED_BYTES_MAX: usize = 64 << 10;

/// Tokens below this are not connections.
pub const FIRST_CONNECTION: usize = 16;

/// Sockets and buffers of a worker.
pub struct Net {
    registry: Registry,
    /// By connection key.
    pub connections: Slab<Connection>,
    /// Connections with something to write at the end of the tick.
    dirty: Vec<usize>,
    /// Connections whose last read filled the buffer, or whose pause has ended.
    ready: VecDeque<usize>,
    pool: Vec<BytesMut>,
    /// What all reads go through.
    pub scratch: Box<[u8]>,
}

impl Net {
    /// Without connections yet.
    pub fn new(registry: Registry) -> Self {
        Self {
            registry,
            connections: Slab::new(),
            dirty: Vec::new(),
            ready: VecDeque::new(),
            pool: Vec::new(),
            scratch: vec![0; READ_BYTES].into_boxed_slice(),
        }
    }

    /// Takes in a socket and watches it. The first event comes by itself if there is something to read.
    pub fn adopt(&mut self, socket: TcpStream) -> io::Result<usize> {
        let entry = self.connections.vacant_entry();
        let key = entry.key();
        let connection = entry.insert(Connection::new(socket));
        let interest = Interest::READABLE | Interest::WRITABLE;
        let watched = self
            .registry
            .register(&mut connection.socket, Token(key + FIRST_CONNECTION), interest);
        if let Err(error) = watched {
            self.connections.remove(key);
            return Err(error);
        }
        Ok(key)
    }

    /// Gives a socket up without closing it.
    pub fn release(&mut self, key: usize) -> Option<Connection> {
        let mut connection = self.connections.try_remove(key)?;
        if let Err(error) = self.registry.deregister(&mut connection.socket) {
            tracing::debug!(%error, "socket was not registered");
        }
        Some(connection)
    }

    /// Closes a socket at once.
    pub fn close(&mut self, key: usize) {
        if let Some(mut connection) = self.release(key) {
            self.recycle(std::mem::take(&mut connection.outbox));
        }
    }

    /// The connection of `key`, unless it is gone.
    pub fn get_mut(&mut self, key: usize) -> Option<&mut Connection> {
        self.connections.get_mut(key)
    }

    /// Appends `packet` to the outbox; it leaves at the end of the tick.
    pub fn send(&mut self, key: usize, packet: &Packet) {
        let Some(connection) = self.connections.get_mut(key) else {
            return;
        };
        let Some(version) = connection.version else { return };
        if connection.outbox.capacity() == 0
            && let Some(buffer) = self.pool.pop()
        {
            connection.outbox = buffer;
        }
        if let Err(error) = encode::encode(packet, version, &mut connection.outbox) {
            tracing::error!(%error, "a packet of the broker's own cannot be written");
        }
        if !connection.is_dirty {
            connection.is_dirty = true;
            self.dirty.push(key);
        }
    }

    /// Asks for a look at the connection at the end of the tick, to write or to close.
    pub fn touch(&mut self, key: usize) {
        if let Some(connection) = self.connections.get_mut(key)
            && !connection.is_dirty
        {
            connection.is_dirty = true;
            self.dirty.push(key);
        }
    }

    /// Asks for a read in the next tick, without waiting for an event.
    pub fn read_again(&mut self, key: usize) {
        if let Some(connection) = self.connections.get_mut(key)
            && !connection.is_ready
        {
            connection.is_ready = true;
            self.ready.push_back(key);
        }
    }

    /// The socket takes more: write what waits.
    pub fn writable(&mut self, key: usize) {
        if self
            .connections
            .get(key)
            .is_some_and(|connection| !connection.outbox.is_empty())
        {
            self.touch(key);
        }
    }

    /// The connections to read without an event; each gets one read, so that none starves the others.
    pub fn take_ready(&mut self) -> VecDeque<usize> {
        std::mem::take(&mut self.ready)
    }

    /// Takes the connection off the list; `false` if it is gone or another one has its key.
    pub fn take_ready_mark(&mut self, key: usize) -> bool {
        self.connections
            .get_mut(key)
            .is_some_and(|connection| std::mem::take(&mut connection.is_ready))
    }

    /// Whether some connection is to be read without an event.
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// One write per connection that has something to send. Returns those whose socket failed.
    pub fn flush(&mut self, failed: &mut Vec<usize>) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for key in dirty.drain(..) {
            let Some(connection) = self.connections.get_mut(key) else {
                continue;
            };
            connection.is_dirty = false;
            // Something may leave the outbox now: its reader looks again.
            if std::mem::take(&mut connection.is_stalled) && !connection.is_ready {
                connection.is_ready = true;
                self.ready.push_back(key);
            }
            match connection.send() {
                Ok(true) => {
                    let buffer = std::mem::take(&mut connection.outbox);
                    let closing = connection.is_closing;
                    if closing && let Err(error) = connection.socket.shutdown(Shutdown::Write) {
                        tracing::debug!(%error, "the peer was faster");
                    }
                    self.recycle(buffer);
                }
                Ok(false) => {}
                Err(_) => failed.push(key),
            }
        }
        self.dirty = dirty;
    }

    fn recycle(&mut self, mut buffer: BytesMut) {
        buffer.clear();
        // `clear` keeps the capacity that is left behind what was written; a buffer worn down to little is let go.
        if self.pool.len() < POOL_MAX && (256..=POOLED_BYTES_MAX).contains(&buffer.capacity()) {
            self.pool.push(buffer);
        }
    }
}
