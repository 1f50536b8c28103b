//! One client's socket: what came incomplete, and what could not be written yet.
//!
//! Invariant: bytes leave in the order in which they were given. What waits is bounded by the caller, who publishes
//! nothing while anything does; only acknowledgements are added, and the broker's own window bounds those.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use mio::net::TcpStream;
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::stream::{self, Received};
use crate::wire::{BadLength, Frame, take_frame};

/// A socket with its loose ends.
#[derive(Debug)]
pub struct Link {
    pub(super) stream: TcpStream,
    partial: Vec<u8>,
    unsent: Vec<u8>,
}

impl Link {
    /// Starts connecting to `target`, from `source` if one is given. A writable event tells when it is done.
    pub fn connect(target: SocketAddr, source: Option<IpAddr>) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(target), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        if let Some(source) = source {
            socket.bind(&SocketAddr::new(source, 0).into())?;
        }
        match socket.connect(&target.into()) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => {}
            Err(error) => return Err(error),
        }
        Ok(Self {
            stream: TcpStream::from_std(socket.into()),
            partial: Vec::new(),
            unsent: Vec::new(),
        })
    }

    /// Whether connecting has ended well.
    pub fn is_connected(&self) -> io::Result<()> {
        match self.stream.take_error()? {
            Some(error) => Err(error),
            None => self.stream.peer_addr().map(drop),
        }
    }

    /// Whether everything given was written.
    pub fn is_clear(&self) -> bool {
        self.unsent.is_empty()
    }

    /// Writes `bytes`, or keeps what the kernel does not take.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let written = match self.unsent.is_empty() {
            true => stream::send(&mut self.stream, bytes)?,
            false => 0,
        };
        self.unsent
            .extend_from_slice(bytes.get(written..).unwrap_or_default());
        Ok(())
    }

    /// Writes what was kept, as far as the kernel takes it.
    pub fn flush(&mut self) -> io::Result<()> {
        if !self.unsent.is_empty() {
            let written = stream::send(&mut self.stream, &self.unsent)?;
            self.unsent.drain(..written);
        }
        Ok(())
    }

    /// Reads once into `buffer`.
    #[inline]
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Received> {
        stream::receive(&mut self.stream, buffer)
    }

    /// Gives `each` the packets in what was left over and `bytes`, and keeps an incomplete one for the next read.
    #[inline]
    pub fn frames(&mut self, bytes: &[u8], mut each: impl FnMut(Frame<'_>)) -> Result<(), BadLength> {
        if self.partial.is_empty() {
            let mut input = bytes;
            while let Some(frame) = take_frame(&mut input)? {
                each(frame);
            }
            self.partial.extend_from_slice(input);
            return Ok(());
        }
        self.partial.extend_from_slice(bytes);
        let mut input = &self.partial[..];
        while let Some(frame) = take_frame(&mut input)? {
            each(frame);
        }
        let taken = self.partial.len() - input.len();
        self.partial.drain(..taken);
        Ok(())
    }

    /// Makes closing immediate, without the TIME_WAIT that would use up the ports of the next run.
    pub fn close_at_once(&self) {
        // A socket that is already dead needs none of this.
        let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }
}
