//! The shared subscriptions that this worker owns (4.8.2): who is in each group, and who gets the next message.
//!
//! ```text
//!  member's worker              owner of $share/NAME/FILTER            publisher's worker
//!  SUBSCRIBE ───── Join ──────► group, FILTER in the shared map
//!  SUBACK    ◄─── Joined ─────┘ (after this tick's snapshot)
//!                               choose one member ◄──── Forward ────── PUBLISH
//!  deliver   ◄──── Share ─────┘
//!  gone      ───── Reshare ───► choose another
//! ```
//!
//! Invariants: a message goes to one member of each group that it matches; a SUBACK leaves after the snapshot in which
//! the group's filter stands was stored, so that no message published by someone who knows of it is missed.
//! Deliberately does not: know sessions; `members.rs` does.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU8;

use tidegate_codec::{ClientId, Message, TopicFilter};
use tidegate_router::{Draw, GroupId, ShareGroups, Strategy, SubscriptionTrie, share_owner};
use tidegate_session::Time;

use super::clients::ClientKey;
use super::rings::Parcel;
use super::tick::Worker;

/// A session in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Member {
    /// Where the session lives.
    pub worker: u16,
    /// Its key there.
    pub client: ClientKey,
}

/// A session joins a group, or its connection comes or goes.
pub struct Join {
    /// `$share/NAME/FILTER`.
    pub filter: TopicFilter,
    /// Who.
    pub member: Member,
    /// Whether it has a connection.
    pub is_connected: bool,
    /// Names the SUBSCRIBE that waits for the answer; `None`: nobody waits.
    pub ticket: Option<usize>,
}

/// A message for one member of a group.
pub struct Share {
    /// `$share/NAME/FILTER`.
    pub filter: TopicFilter,
    /// In memory of its own.
    pub message: Message,
    /// Who published it.
    pub publisher: Option<ClientId>,
    /// When it was received.
    pub received: Time,
    /// To the member's worker: who gets it. To the owner: who does not.
    pub member: Member,
}

/// The groups of one worker.
pub struct Shares {
    /// Members, and whether each is connected.
    groups: ShareGroups<Member, bool>,
    filters: SubscriptionTrie<GroupId, ()>,
    workers: NonZeroU8,
    matched: Vec<GroupId>,
    random: RandomState,
    draws: u64,
}

impl Shares {
    /// No groups yet.
    pub fn new(strategy: Strategy, workers: usize) -> Self {
        Self {
            groups: ShareGroups::new(strategy),
            filters: SubscriptionTrie::new(),
            workers: u8::try_from(workers)
                .ok()
                .and_then(NonZeroU8::new)
                .unwrap_or(NonZeroU8::MIN),
            matched: Vec::new(),
            random: RandomState::new(),
            draws: 0,
        }
    }

    /// Whether this worker owns no group.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The worker that owns the group of `filter`.
    pub fn owner_of(&self, filter: &TopicFilter) -> usize {
        share_owner(filter, self.workers).index()
    }

    /// One member of `group`: a connected one if there is any, never `except`.
    fn choose(&mut self, group: GroupId, share: &Routed<'_>, except: Option<Member>) -> Option<Member> {
        self.draws = self.draws.wrapping_add(1);
        let draw = Draw {
            random: self.random.hash_one(self.draws),
            client: share.publisher.map_or("", ClientId::as_str),
            topic: share.message.topic.as_str(),
        };
        let connected = |member, is_connected: &bool| *is_connected && Some(member) != except;
        if let Some((member, _)) = self.groups.choose(group, &draw, connected) {
            return Some(member);
        }
        let any = |member, _: &bool| Some(member) != except;
        self.groups.choose(group, &draw, any).map(|(member, _)| member)
    }
}

/// A message on its way to sessions.
#[derive(Clone, Copy)]
pub struct Routed<'a> {
    /// The message.
    pub message: &'a Message,
    /// Who published it.
    pub publisher: Option<&'a ClientId>,
    /// When it was received.
    pub received: Time,
}

impl Worker {
    /// A session joins a group of this worker's, or tells that its connection has come or gone.
    pub(super) fn join(&mut self, join: Join) {
        let Join {
            filter,
            member,
            is_connected,
            ticket,
        } = join;
        if let Some(joined) = self.shares.groups.join(&filter, member, is_connected)
            && joined.created
        {
            self.shares.filters.insert(&filter, joined.group, ());
            self.routes.hold(filter);
        }
        match ticket {
            Some(ticket) if member.worker == self.number => self.joined(ticket),
            Some(ticket) => self
                .rings
                .send(usize::from(member.worker), Parcel::Joined { ticket }),
            None => {}
        }
    }

    /// A session leaves a group of this worker's.
    pub(super) fn leave(&mut self, filter: TopicFilter, member: Member) {
        if let Some(left) = self.shares.groups.leave(&filter, member)
            && left.ended
        {
            self.shares.filters.remove(&filter, left.group);
            self.routes.release(filter);
        }
    }

    /// Gives a message to one member of every group of this worker's that it matches.
    pub(super) fn share_out(&mut self, shared: Routed<'_>) {
        let mut matched = std::mem::take(&mut self.shares.matched);
        let visit = &mut |group, (): &()| matched.push(group);
        self.shares.filters.matches(&shared.message.topic, visit);
        for group in matched.drain(..) {
            self.share(group, shared, None);
        }
        self.shares.matched = matched;
    }

    /// A member could not take its message: another one may have it.
    pub(super) fn share_again(&mut self, share: &Share) {
        let shared = Routed {
            message: &share.message,
            publisher: share.publisher.as_ref(),
            received: share.received,
        };
        match self.shares.groups.find(&share.filter) {
            Some(group) => self.share(group, shared, Some(share.member)),
            None => self.counters.dropped_no_member += 1,
        }
    }

    fn share(&mut self, group: GroupId, shared: Routed<'_>, except: Option<Member>) {
        let chosen = self.shares.choose(group, &shared, except);
        let (Some(member), Some(filter)) = (chosen, self.shares.groups.filter(group).cloned()) else {
            self.counters.dropped_no_member += 1;
            return;
        };
        if member.worker == self.number {
            return self.deliver_shared(&filter, member.client, shared);
        }
        let share = Share {
            filter,
            message: shared.message.detached(),
            publisher: shared.publisher.cloned(),
            received: shared.received,
            member,
        };
        self.rings
            .send(usize::from(member.worker), Parcel::Share(Box::new(share)));
    }
}
