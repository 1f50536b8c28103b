//! Messages that wait until a rule's sinks have room, or its module is there.
//!
//! Invariant: once a publisher's message is on hold, its later ones are too, so that its order is kept.

use std::collections::{HashMap, VecDeque};

use tidegate_codec::QoS;

use super::{Arrival, Link, Outlet};
use crate::worker::ClientKey;

/// The waiting messages of one worker, in order of arrival.
#[derive(Default)]
pub struct Hold {
    waiting: VecDeque<Arrival>,
    clients: HashMap<ClientKey, u32>,
    /// Whether something has changed since the last look.
    recheck: bool,
}

impl Hold {
    /// Messages on hold.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Asks for another look at the next tick: a sink has room, or a module is there.
    pub fn recheck(&mut self) {
        self.recheck = true;
    }

    /// Whether waiting messages are to be tried again.
    pub fn is_due(&self) -> bool {
        self.recheck && !self.waiting.is_empty()
    }

    /// All waiting messages if it is time to try them again.
    pub fn take_due(&mut self) -> VecDeque<Arrival> {
        if !std::mem::take(&mut self.recheck) {
            return VecDeque::new();
        }
        self.clients.clear();
        std::mem::take(&mut self.waiting)
    }

    /// Puts `arrival` on hold.
    pub fn keep(&mut self, arrival: Arrival) {
        if let Some(origin) = arrival.origin {
            *self.clients.entry(origin.client).or_default() += 1;
        }
        self.waiting.push_back(arrival);
    }

    /// Forgets what a lost link has sent at QoS 0 and 1: it was never acknowledged, and a client that reconnects sends
    /// its QoS 1 messages again, which would pile up here. QoS 2 stays, a repetition of it is recognised. Returns how
    /// many QoS 0 messages that costs.
    pub fn forget(&mut self, client: ClientKey) -> u64 {
        if !self.clients.contains_key(&client) {
            return 0;
        }
        let (mut shed, mut left) = (0, 0);
        self.waiting.retain(|arrival| {
            let is_of_client = arrival.origin.is_some_and(|origin| origin.client == client);
            let is_kept = !is_of_client || arrival.message.qos == QoS::ExactlyOnce;
            shed += u64::from(!is_kept && arrival.message.qos == QoS::AtMostOnce);
            left += u32::from(is_of_client && is_kept);
            is_kept
        });
        match left {
            0 => self.clients.remove(&client),
            left => self.clients.insert(client, left),
        };
        shed
    }

    /// Whether `arrival` has to queue up behind an earlier one of its publisher.
    pub fn is_behind(&self, arrival: &Arrival) -> bool {
        arrival
            .origin
            .is_some_and(|origin| self.clients.contains_key(&origin.client))
    }

    /// Whether anything is on hold.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// Which links cannot take messages now, by position. Empty when all can, which is the usual case.
///
/// A link whose module may publish or rename can send messages into any later link, so it stops with that.
pub fn blocked_links(links: &[Link], outlets: &[Outlet], dead_letters: &Outlet) -> Vec<bool> {
    let has_room = |position: &usize| outlets.get(*position).is_none_or(Outlet::has_room);
    let is_ready = |link: &Link| {
        (!link.has_module || (link.guest.is_some() && dead_letters.has_room()))
            && link.sinks.iter().all(has_room)
            && link.emit.iter().all(has_room)
    };
    let mut blocked: Vec<bool> = links.iter().map(|link| !is_ready(link)).collect();
    if !blocked.contains(&true) {
        return Vec::new();
    }
    let mut later_is_blocked = false;
    for (link, blocked) in links.iter().zip(&mut blocked).rev() {
        *blocked |= later_is_blocked && link.may_publish;
        later_is_blocked |= *blocked;
    }
    blocked
}
