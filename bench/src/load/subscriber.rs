//! One subscriber: acknowledges what it receives, and follows every publisher's sequence.

use std::sync::Arc;

use tidegate_codec::{QoS, Version};

use super::sequence::{Arrival, Sequence};
use super::tally::Tally;
use crate::wire::scan::kind;
use crate::wire::{Frame, Stamp, StampPlace};

/// The publishers whose messages a subscriber should receive.
#[derive(Debug, Clone)]
pub enum Expected {
    /// Every one of the load.
    All(u32),
    /// These, in ascending order.
    Some(Arc<[u32]>),
}

impl Expected {
    /// Where among the expected publishers `publisher` stands.
    #[inline]
    pub fn place(&self, publisher: u32) -> Option<usize> {
        match self {
            Self::All(count) => (publisher < *count)
                .then(|| usize::try_from(publisher).ok())
                .flatten(),
            Self::Some(publishers) => match publishers.first() {
                Some(&only) if publishers.len() == 1 => (only == publisher).then_some(0),
                _ => publishers.binary_search(&publisher).ok(),
            },
        }
    }

    /// The expected publishers, in the order of their places.
    pub fn publishers(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            Self::All(count) => Box::new(0..*count),
            Self::Some(publishers) => Box::new(publishers.iter().copied()),
        }
    }
}

/// A subscriber's state; the socket is its client's.
#[derive(Debug)]
pub struct Subscriber {
    expected: Expected,
    sequences: Vec<Sequence>,
    stamp: Option<StampPlace>,
    since: u64,
}

impl Subscriber {
    /// A subscriber of the messages of `expected`, which carry their stamp at `stamp`; stamps before `since` are foreign.
    pub fn new(expected: Expected, stamp: Option<StampPlace>, since: u64) -> Self {
        Self {
            expected,
            sequences: Vec::new(),
            stamp,
            since,
        }
    }

    /// Takes in one packet of the broker; what is to be answered goes to `out`.
    #[inline]
    pub fn on_frame(&mut self, frame: &Frame<'_>, version: Version, turn: &mut Turn<'_>) {
        match frame.kind() {
            kind::PUBLISH => self.on_publish(frame, version, turn),
            kind::PUBREL => match frame.packet_id() {
                Some(packet_id) => acknowledge(kind::PUBCOMP, packet_id, turn.out),
                None => turn.tally.counters.malformed += 1,
            },
            kind::PINGRESP | kind::DISCONNECT => {}
            _ => turn.tally.counters.malformed += 1,
        }
    }

    /// Messages of this subscriber that are missing, when each publisher has sent what `sent` says.
    pub fn lost(&self, sent: impl Fn(u32) -> u32) -> u64 {
        let untouched = Sequence::default();
        let sequences = self.sequences.iter().chain(std::iter::repeat(&untouched));
        let lost = |(publisher, sequence): (u32, &Sequence)| sequence.lost(sent(publisher));
        self.expected.publishers().zip(sequences).map(lost).sum()
    }

    /// Whether its messages carry stamps, so that [`Self::lost`] means something.
    pub fn is_traced(&self) -> bool {
        self.stamp.is_some()
    }

    fn on_publish(&mut self, frame: &Frame<'_>, version: Version, turn: &mut Turn<'_>) {
        let Some(delivery) = frame.delivery(version) else {
            turn.tally.counters.malformed += 1;
            return;
        };
        match delivery.qos {
            QoS::AtMostOnce => {}
            QoS::AtLeastOnce => acknowledge(kind::PUBACK, delivery.packet_id, turn.out),
            QoS::ExactlyOnce => acknowledge(kind::PUBREC, delivery.packet_id, turn.out),
        }
        turn.tally.counters.delivered += 1;
        if let Some(place) = self.stamp {
            self.trace(Stamp::read(place, delivery.payload), turn);
        }
    }

    fn trace(&mut self, stamp: Option<Stamp>, turn: &mut Turn<'_>) {
        let stamp = stamp.filter(|stamp| stamp.intended >= self.since);
        let placed = stamp.and_then(|stamp| Some((stamp, self.expected.place(stamp.publisher)?)));
        let Some((stamp, place)) = placed else {
            turn.tally.counters.foreign += 1;
            return;
        };
        if self.sequences.len() <= place {
            self.sequences.resize(place + 1, Sequence::default());
        }
        match self
            .sequences
            .get_mut(place)
            .map(|sequence| sequence.receive(stamp.sequence))
        {
            Some(Arrival::Reordered) => turn.tally.counters.reordered += 1,
            Some(Arrival::Duplicate) => turn.tally.counters.duplicated += 1,
            Some(Arrival::InOrder) | None => {}
        }
        turn.tally.deliver.record(turn.now.saturating_sub(stamp.intended));
    }
}

/// What a subscriber works with while it takes in one packet.
#[derive(Debug)]
pub struct Turn<'a> {
    /// When the packet was read.
    pub now: u64,
    /// Where events are counted.
    pub tally: &'a mut Tally,
    /// Where answers go.
    pub out: &'a mut Vec<u8>,
}

fn acknowledge(kind_: u8, packet_id: u16, out: &mut Vec<u8>) {
    let [high, low] = packet_id.to_be_bytes();
    out.extend_from_slice(&[kind_ << 4, 2, high, low]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_publisher_is_found_among_those_expected() {
        let all = Expected::All(3);
        assert_eq!(
            [0, 2, 3].map(|publisher| all.place(publisher)),
            [Some(0), Some(2), None]
        );
        let some = Expected::Some([4, 7, 9].into());
        assert_eq!(
            [4, 9, 5].map(|publisher| some.place(publisher)),
            [Some(0), Some(2), None]
        );
        let one = Expected::Some([4].into());
        assert_eq!([4, 5].map(|publisher| one.place(publisher)), [Some(0), None]);
    }

    #[test]
    fn publishers_that_were_never_heard_count_as_lost() {
        let subscriber = Subscriber::new(Expected::Some([1, 2].into()), None, 0);
        assert_eq!(subscriber.lost(|publisher| publisher * 10), 30);
    }
}
