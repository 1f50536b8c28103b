//! The sessions of this worker that are members of shared subscriptions, wherever their groups are owned.
//!
//! Invariant: a message is delivered to a session only while it is a member; otherwise, and when the session ends
//! before the client got it, it goes back to the owner, who gives it to another member (4.8.2).
//! Deliberately does not: choose members, or send retained messages: shared subscriptions get none (4.8.2).

use std::collections::HashMap;
use std::num::NonZeroU32;

use slab::Slab;
use tidegate_codec::{QoS, ReasonCode, Subscribe, SubscribeOptions, TopicFilter};
use tidegate_session::{Delivery, Input};

use super::clients::ClientKey;
use super::rings::Parcel;
use super::shares::{Join, Member, Routed, Share};
use super::tick::Worker;

/// What a session joined with.
#[derive(Clone, Copy)]
struct Membership {
    options: SubscribeOptions,
    /// Subscription Identifier; 0 for none.
    identifier: u32,
}

struct Group {
    /// Names the group in deliveries. Never given to another group: a delivery may outlive the membership.
    name: NonZeroU32,
    members: HashMap<ClientKey, Membership>,
}

/// A SUBSCRIBE that waits until the owners of its groups have answered.
struct Waiting {
    client: ClientKey,
    epoch: u32,
    request: Box<Subscribe>,
    reasons: Vec<ReasonCode>,
    answers_left: usize,
}

/// The memberships of one worker's sessions.
#[derive(Default)]
pub struct Members {
    groups: HashMap<TopicFilter, Group>,
    filters: HashMap<NonZeroU32, TopicFilter>,
    by_client: HashMap<ClientKey, Vec<TopicFilter>>,
    waiting: Slab<Waiting>,
    names: u32,
    len: usize,
}

impl Members {
    /// Number of memberships.
    pub fn len(&self) -> usize {
        self.len
    }

    fn join(&mut self, filter: &TopicFilter, client: ClientKey, membership: Membership) {
        if !self.groups.contains_key(filter) {
            self.names = self.names.wrapping_add(1).max(1);
            let name = NonZeroU32::new(self.names).unwrap_or(NonZeroU32::MIN);
            let members = HashMap::new();
            self.groups.insert(filter.clone(), Group { name, members });
            self.filters.insert(name, filter.clone());
        }
        let Some(group) = self.groups.get_mut(filter) else {
            return;
        };
        if group.members.insert(client, membership).is_none() {
            self.by_client.entry(client).or_default().push(filter.clone());
            self.len += 1;
        }
    }

    fn leave(&mut self, filter: &TopicFilter, client: ClientKey) -> bool {
        let Some(group) = self.groups.get_mut(filter) else {
            return false;
        };
        if group.members.remove(&client).is_none() {
            return false;
        }
        if group.members.is_empty() {
            self.filters.remove(&group.name);
            self.groups.remove(filter);
        }
        if let Some(filters) = self.by_client.get_mut(&client) {
            filters.retain(|other| other != filter);
            if filters.is_empty() {
                self.by_client.remove(&client);
            }
        }
        self.len -= 1;
        true
    }

    fn find(&self, filter: &TopicFilter, client: ClientKey) -> Option<(NonZeroU32, Membership)> {
        let group = self.groups.get(filter)?;
        Some((group.name, *group.members.get(&client)?))
    }
}

impl Worker {
    /// Joins the groups of a SUBSCRIBE; it is answered when their owners have.
    pub(super) fn join_groups(
        &mut self,
        client: ClientKey,
        request: Box<Subscribe>,
        reasons: Vec<ReasonCode>,
    ) {
        let Some(found) = self.clients.get(client) else {
            return;
        };
        let (epoch, is_connected) = (found.session.epoch(), found.connection.is_some());
        let identifier = request.properties.subscription_identifiers().next().unwrap_or(0);
        // A filter that outlives the packet must not keep its read buffer alive.
        let joins: Vec<(TopicFilter, SubscribeOptions)> = request
            .subscriptions
            .iter()
            .filter(|asked| asked.filter.shared().is_some())
            .map(|asked| (asked.filter.detached(), asked.options))
            .collect();
        let ticket = self.members.waiting.insert(Waiting {
            client,
            epoch,
            request,
            reasons,
            answers_left: joins.len(),
        });
        for (filter, options) in joins {
            self.members
                .join(&filter, client, Membership { options, identifier });
            self.tell_owner(client, filter, is_connected, Some(ticket));
        }
    }

    /// An owner has answered; the last answer releases the SUBACK.
    pub(super) fn joined(&mut self, ticket: usize) {
        let Some(waiting) = self.members.waiting.get_mut(ticket) else {
            return;
        };
        waiting.answers_left -= 1;
        if waiting.answers_left > 0 {
            return;
        }
        let Waiting {
            client,
            epoch,
            request,
            reasons,
            ..
        } = self.members.waiting.remove(ticket);
        let input = Input::Subscribed {
            epoch,
            request,
            reasons,
        };
        self.input(client, input);
    }

    /// Leaves the group of `filter`. `false` if the session was not in it.
    pub(super) fn leave_group(&mut self, filter: &TopicFilter, client: ClientKey) -> bool {
        if !self.members.leave(filter, client) {
            return false;
        }
        let member = self.member(client);
        let owner = self.shares.owner_of(filter);
        if owner == usize::from(self.number) {
            self.leave(filter.clone(), member);
        } else {
            let filter = filter.detached();
            self.rings.send(owner, Parcel::Leave { filter, member });
        }
        true
    }

    /// The connection of a session has come or gone: the owners of its groups prefer members that have one.
    pub(super) fn tell_presence(&mut self, client: ClientKey, is_connected: bool) {
        if self.members.len == 0 {
            return;
        }
        let filters = self.members.by_client.get(&client).cloned().unwrap_or_default();
        for filter in filters {
            self.tell_owner(client, filter, is_connected, None);
        }
    }

    /// Delivers a message to the member that the owner has chosen.
    pub(super) fn deliver_shared(&mut self, filter: &TopicFilter, key: ClientKey, shared: Routed<'_>) {
        let found = self.members.find(filter, key);
        let (Some((name, membership)), Some(client)) = (found, self.clients.get(key)) else {
            return self.return_share(Share {
                filter: filter.clone(),
                message: shared.message.detached(),
                publisher: shared.publisher.cloned(),
                received: shared.received,
                member: self.member(key),
            });
        };
        let qos = shared.message.qos.min(membership.options.qos);
        if qos == QoS::AtMostOnce && self.is_slow(client.connection) {
            self.counters.dropped_qos0 += 1;
            return;
        }
        let delivery = Delivery {
            message: match qos {
                QoS::AtMostOnce => shared.message.clone(),
                QoS::AtLeastOnce | QoS::ExactlyOnce => shared.message.detached(),
            },
            qos,
            retain: shared.message.retain && membership.options.retain_as_published,
            identifiers: match membership.identifier {
                0 => Box::new([]),
                identifier => Box::new([identifier]),
            },
            received: shared.received,
            log_entry: None,
            group: Some(name),
        };
        self.input(key, Input::Deliver(delivery));
    }

    /// A session has ended before its client got a message of a group: another member may have it. QoS 2 messages that
    /// were sent once are never among them [MQTT-4.8.2-5].
    pub(super) fn take_back(&mut self, client: ClientKey, delivery: Delivery) {
        let filter = delivery.group.and_then(|name| self.members.filters.get(&name));
        let Some(filter) = filter.cloned() else {
            // Nobody of this worker is in the group any more: the client has left it of its own accord.
            self.counters.dropped_no_member += 1;
            return;
        };
        let member = self.member(client);
        self.return_share(Share {
            filter,
            message: delivery.message,
            publisher: None,
            received: delivery.received,
            member,
        });
    }

    fn return_share(&mut self, share: Share) {
        let owner = self.shares.owner_of(&share.filter);
        if owner == usize::from(self.number) {
            self.share_again(&share);
        } else {
            self.rings.send(owner, Parcel::Reshare(Box::new(share)));
        }
    }

    fn tell_owner(
        &mut self,
        client: ClientKey,
        filter: TopicFilter,
        is_connected: bool,
        ticket: Option<usize>,
    ) {
        let owner = self.shares.owner_of(&filter);
        let join = Join {
            filter,
            member: self.member(client),
            is_connected,
            ticket,
        };
        if owner == usize::from(self.number) {
            self.join(join);
        } else {
            self.rings.send(owner, Parcel::Join(Box::new(join)));
        }
    }

    fn member(&self, client: ClientKey) -> Member {
        Member {
            worker: self.number,
            client,
        }
    }
}
