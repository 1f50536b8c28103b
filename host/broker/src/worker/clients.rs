//! The sessions of one worker, found by client id or by key.
//!
//! Invariant: a [`ClientKey`] names one session for ever; once that is gone, the key finds nothing.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use slab::Slab;
use tidegate_codec::{ClientId, Packet};
use tidegate_session::{Session, Time};

/// Name of a session within its worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientKey {
    /// Place in the slab, reused.
    pub index: u32,
    /// Told apart from the place's earlier owners.
    pub generation: u32,
}

/// Who publishes: what rules, sinks and No Local ask about.
#[derive(Debug)]
pub struct Publisher {
    /// The client.
    pub client_id: ClientId,
    /// Its user name, if it gave one.
    pub username: Option<Box<str>>,
    /// Whether it speaks MQTT 5, and so can be told no.
    pub is_v5: bool,
}

/// One client: its session, and its connection while it has one.
pub struct Client {
    /// The protocol's state.
    pub session: Session,
    /// Key of the connection.
    pub connection: Option<usize>,
    /// Whose it is.
    pub publisher: Arc<Publisher>,
    /// When the timer wheel looks at it next.
    pub armed: Option<Time>,
    /// PUBLISHes of a 3.1.1 client beyond its Receive Maximum, and held messages; absent for most.
    pub backlog: Option<Box<Backlog>>,
    generation: u32,
}

/// What a client has sent and the broker has no room for yet.
#[derive(Default)]
pub struct Backlog {
    /// Not yet given to the session.
    pub parked: std::collections::VecDeque<Packet>,
    /// Bytes of parked and held messages.
    pub bytes: usize,
    /// Whether its socket is left unread for it.
    pub paused: bool,
}

/// All clients of a worker.
#[derive(Default)]
pub struct Clients {
    slab: Slab<Client>,
    by_id: HashMap<ClientId, ClientKey, RandomState>,
    generations: u32,
}

impl Clients {
    /// Number of sessions, connected or not.
    pub fn len(&self) -> usize {
        self.slab.len()
    }

    /// The session of `client_id`.
    pub fn find(&self, client_id: &ClientId) -> Option<ClientKey> {
        self.by_id.get(client_id).copied()
    }

    /// Adds a session for a client that has none.
    pub fn insert(&mut self, session: Session, publisher: Arc<Publisher>) -> ClientKey {
        self.generations = self.generations.wrapping_add(1);
        let generation = self.generations;
        let client_id = publisher.client_id.clone();
        let client = Client {
            session,
            connection: None,
            publisher,
            armed: None,
            backlog: None,
            generation,
        };
        let index = u32::try_from(self.slab.insert(client)).unwrap_or(u32::MAX);
        let key = ClientKey { index, generation };
        self.by_id.insert(client_id, key);
        key
    }

    /// The client of `key`, unless it is gone.
    pub fn get_mut(&mut self, key: ClientKey) -> Option<&mut Client> {
        self.slab
            .get_mut(key.index as usize)
            .filter(|client| client.generation == key.generation)
    }

    /// The client of `key`, unless it is gone.
    pub fn get(&self, key: ClientKey) -> Option<&Client> {
        self.slab
            .get(key.index as usize)
            .filter(|client| client.generation == key.generation)
    }

    /// Forgets the client of `key`.
    pub fn remove(&mut self, key: ClientKey) -> Option<Client> {
        self.get(key)?;
        let client = self.slab.try_remove(key.index as usize)?;
        self.by_id.remove(&client.publisher.client_id);
        Some(client)
    }

    /// Every key there is.
    pub fn keys(&self) -> Vec<ClientKey> {
        let key = |(index, client): (usize, &Client)| ClientKey {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            generation: client.generation,
        };
        self.slab.iter().map(key).collect()
    }
}
