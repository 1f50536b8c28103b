//! One client: its socket, and the seat it has in the load from connecting to being gone.

use tidegate_codec::Version;

use super::link::Link;
use super::publisher::Publisher;
use super::subscriber::{Subscriber, Turn};
use crate::wire::scan::kind;
use crate::wire::{Frame, setup};

/// A client; its socket exists from the first attempt to connect until it is lost.
#[derive(Debug)]
pub struct Client {
    /// The socket.
    pub link: Option<Link>,
    /// Everything else, apart so that a packet in the socket's buffer can be taken in.
    pub seat: Seat,
}

/// What a client is in the load.
#[derive(Debug)]
pub struct Seat {
    /// Place in the order of connecting, over all threads.
    pub order: u32,
    /// How far it has come.
    pub stage: Stage,
    /// What it does.
    pub role: Role,
    /// First packets, until they are sent.
    pub opening: Option<Box<Opening>>,
    /// When it was meant to connect.
    pub intended: u64,
    /// When it last sent something.
    pub spoke: u64,
    /// Whether it is in the list of those who write without waiting for acknowledgements.
    pub is_writing: bool,
}

/// How far a client has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Not yet its turn.
    Waiting,
    /// The kernel is connecting.
    Connecting,
    /// CONNECT is sent.
    Greeting,
    /// SUBSCRIBE is sent.
    Subscribing,
    /// Does its part.
    Ready,
    /// Refused or lost.
    Gone,
}

/// The packets before a client is ready.
#[derive(Debug)]
pub struct Opening {
    /// CONNECT.
    pub connect: Vec<u8>,
    /// SUBSCRIBE, for subscribers.
    pub subscribe: Option<Vec<u8>>,
}

/// What a client does.
#[derive(Debug)]
pub enum Role {
    /// Publishes.
    Publisher(Publisher),
    /// Subscribes.
    Subscriber(Subscriber),
}

impl Seat {
    /// A client that has not connected yet.
    pub fn new(order: u32, role: Role, opening: Opening) -> Self {
        Self {
            order,
            stage: Stage::Waiting,
            role,
            opening: Some(Box::new(opening)),
            intended: 0,
            spoke: 0,
            is_writing: false,
        }
    }

    /// Whether it has sent something that the broker has yet to answer before it is ready.
    pub fn is_unanswered(&self) -> bool {
        matches!(
            self.stage,
            Stage::Connecting | Stage::Greeting | Stage::Subscribing
        )
    }

    /// Takes in one packet of the broker.
    #[inline]
    pub fn on_frame(&mut self, frame: &Frame<'_>, version: Version, turn: &mut Turn<'_>) {
        match (self.stage, &mut self.role) {
            (Stage::Ready, Role::Publisher(publisher)) => {
                publisher.on_frame(frame, turn.now, turn.tally, turn.out);
            }
            (Stage::Ready, Role::Subscriber(subscriber)) => subscriber.on_frame(frame, version, turn),
            // The server may deliver before it acknowledges the subscription (3.8.4).
            (Stage::Subscribing, Role::Subscriber(subscriber)) if frame.kind() != kind::SUBACK => {
                subscriber.on_frame(frame, version, turn);
            }
            (Stage::Subscribing, _) => match setup::read_suback(version, frame.raw) {
                Ok(()) => self.become_ready(turn),
                Err(_) => self.stage = Stage::Gone,
            },
            (Stage::Greeting, _) => self.on_connack(frame, version, turn),
            (Stage::Waiting | Stage::Connecting | Stage::Gone, _) => {}
        }
    }

    fn on_connack(&mut self, frame: &Frame<'_>, version: Version, turn: &mut Turn<'_>) {
        let Ok(welcome) = setup::read_connack(version, frame.raw) else {
            self.stage = Stage::Gone;
            return;
        };
        if let Role::Publisher(publisher) = &mut self.role {
            publisher.welcome(welcome.receive_maximum);
        }
        match self.opening.take().and_then(|opening| opening.subscribe) {
            Some(subscribe) => {
                turn.out.extend_from_slice(&subscribe);
                self.stage = Stage::Subscribing;
            }
            None => self.become_ready(turn),
        }
    }

    fn become_ready(&mut self, turn: &mut Turn<'_>) {
        self.stage = Stage::Ready;
        turn.tally.counters.ready += 1;
        turn.tally.connect.record(turn.now.saturating_sub(self.intended));
    }
}
