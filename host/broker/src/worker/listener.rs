//! Listening sockets: one per worker on the same address, so that the kernel spreads the accepts.

use std::io;
use std::net::SocketAddr;

use socket2::{Domain, Protocol, Socket, Type};

/// Connections the kernel keeps until they are accepted: enough for a reconnect storm of 5,000 a second.
const BACKLOG: i32 = 4_096;

/// `count` sockets that listen on `address`. With port 0 all get the port that the first one was given.
///
/// # Errors
/// The address is in use or not of this machine.
pub fn listen(address: SocketAddr, count: usize) -> io::Result<Vec<mio::net::TcpListener>> {
    // SO_REUSEPORT would let a second broker of the same user bind the same port and take half of the connections;
    // binding once without it finds that out.
    let probe = open(address, false)?;
    let address = probe.local_addr()?.as_socket().unwrap_or(address);
    drop(probe);
    let mut listeners = Vec::with_capacity(count);
    for _ in 0..count {
        let socket = open(address, true)?;
        socket.listen(BACKLOG)?;
        listeners.push(mio::net::TcpListener::from_std(socket.into()));
    }
    Ok(listeners)
}

fn open(address: SocketAddr, shared: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    // Connections of an earlier process in TIME_WAIT must not keep a restart from binding.
    socket.set_reuse_address(true)?;
    if shared {
        socket.set_reuse_port(true)?;
    }
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&address.into())?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_listeners_share_a_port_but_a_second_broker_is_refused() {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let first = listen(any, 3).unwrap();
        let address = first[0].local_addr().unwrap();
        assert!(
            first
                .iter()
                .all(|listener| listener.local_addr().unwrap() == address)
        );
        let error = listen(address, 2).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }
}
