//! Bounded rings between every pair of workers, flushed once a tick with one wake-up.
//!
//! A ring carries whole ticks: what a worker has for a peer collects in an outgoing list, and the list goes over in one
//! piece. Full means the peer has not ticked for a long time; the list then waits here, and once it is longer than
//! [`OUTGOING_MAX`] the worker stops reading its sockets until the peer catches up. It goes on receiving all the
//! while, so two workers cannot wait for each other.

use std::sync::Arc;

use bytes::Bytes;
use mio::Waker;
use tidegate_codec::{ClientId, Connect, Message, ReasonCode, TopicFilter};
use tidegate_session::Time;

use super::retain::Keep;
use super::retained::{ReplayChunk, ReplayRequest};
use super::shares::{Join, Member, Share};
use super::sys::Tally;

/// Ticks a ring holds.
const RING_TICKS: usize = 64;

/// Items waiting for one peer beyond which no more sockets are read.
const OUTGOING_MAX: usize = 65_536;

/// What one worker has for another.
pub enum Parcel {
    /// A message that matches filters of the peer's sessions.
    Forward {
        /// In memory of its own: read buffers stay with their worker.
        message: Message,
        /// Who published it, for No Local.
        publisher: Option<ClientId>,
        /// When it was received.
        received: Time,
    },
    /// A connection whose client belongs to the peer.
    Adopt(Box<Adoption>),
    /// A message to retain, on a topic that the peer owns.
    Keep(Box<Keep>),
    /// Answers a [`Parcel::Keep`] that is waited for.
    Kept {
        /// What it is waited for by.
        key: u64,
        /// Whether its publisher is refused.
        refused: Option<ReasonCode>,
    },
    /// A new subscription asks for the retained messages of the topics that the peer owns.
    Replay(Box<ReplayRequest>),
    /// Answers a [`Parcel::Replay`].
    Replayed(Box<ReplayChunk>),
    /// A session joins a shared subscription that the peer owns.
    Join(Box<Join>),
    /// Answers a [`Parcel::Join`] that is waited for.
    Joined {
        /// As there.
        ticket: usize,
    },
    /// A session leaves a shared subscription that the peer owns.
    Leave {
        /// `$share/NAME/FILTER`.
        filter: TopicFilter,
        /// Who.
        member: Member,
    },
    /// A message for a member of a shared subscription among the peer's sessions.
    Share(Box<Share>),
    /// A message of a shared subscription that the peer owns, for another member than the one named.
    Reshare(Box<Share>),
    /// Worker 0 asks for the peer's part of `$SYS`.
    AskTally,
    /// Answers a [`Parcel::AskTally`].
    Tally(Tally),
}

/// A socket on its way to its home worker, with what was already read.
pub struct Adoption {
    /// The socket, registered nowhere.
    pub socket: mio::net::TcpStream,
    /// Its CONNECT.
    pub connect: Box<Connect>,
    /// Bytes behind the CONNECT.
    pub rest: Bytes,
}

struct Peer {
    ring: rtrb::Producer<Vec<Parcel>>,
    outgoing: Vec<Parcel>,
    waker: Arc<Waker>,
}

/// One worker's ends of the rings to and from all others.
pub struct Rings {
    /// By worker; `None` at its own place.
    peers: Vec<Option<Peer>>,
    incoming: Vec<rtrb::Consumer<Vec<Parcel>>>,
}

impl Rings {
    /// The rings among `wakers.len()` workers.
    pub fn between(wakers: &[Arc<Waker>]) -> Vec<Self> {
        let mut all: Vec<Self> = wakers
            .iter()
            .map(|_| Self {
                peers: Vec::new(),
                incoming: Vec::new(),
            })
            .collect();
        for from in 0..wakers.len() {
            for (to, waker) in wakers.iter().enumerate() {
                let peer = (from != to).then(|| {
                    let (ring, consumer) = rtrb::RingBuffer::new(RING_TICKS);
                    if let Some(rings) = all.get_mut(to) {
                        rings.incoming.push(consumer);
                    }
                    Peer {
                        ring,
                        outgoing: Vec::new(),
                        waker: Arc::clone(waker),
                    }
                });
                if let Some(rings) = all.get_mut(from) {
                    rings.peers.push(peer);
                }
            }
        }
        all
    }

    /// Puts `parcel` on the list for `worker`; it leaves with [`Rings::flush`].
    pub fn send(&mut self, worker: usize, parcel: Parcel) {
        if let Some(Some(peer)) = self.peers.get_mut(worker) {
            peer.outgoing.push(parcel);
        }
    }

    /// Hands the lists over. A peer whose ring is full keeps its list for the next tick.
    pub fn flush(&mut self) {
        for peer in self
            .peers
            .iter_mut()
            .flatten()
            .filter(|peer| !peer.outgoing.is_empty())
        {
            let list = std::mem::take(&mut peer.outgoing);
            match peer.ring.push(list) {
                Ok(()) => {
                    if let Err(error) = peer.waker.wake() {
                        tracing::error!(%error, "cannot wake a worker");
                    }
                }
                Err(rtrb::PushError::Full(list)) => peer.outgoing = list,
            }
        }
    }

    /// Whether some list waits for a full ring.
    pub fn is_backed_up(&self) -> bool {
        self.peers.iter().flatten().any(|peer| !peer.outgoing.is_empty())
    }

    /// Whether a peer is so far behind that no more may be read for it.
    pub fn is_congested(&self) -> bool {
        self.peers
            .iter()
            .flatten()
            .any(|peer| peer.outgoing.len() >= OUTGOING_MAX)
    }

    /// The next list that arrived; `None` when there is no more.
    pub fn receive(&mut self) -> Option<Vec<Parcel>> {
        self.incoming.iter_mut().find_map(|ring| ring.pop().ok())
    }
}
