//! What a session is subscribed to.
//!
//! A filter is known from the moment its SUBSCRIBE is handed to the broker, so that a session that ends in between
//! names it among the filters to remove. It counts as granted when the broker says so.

use std::collections::HashMap;

use tidegate_codec::{SubscribeOptions, TopicFilter};

/// A subscription as the server granted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Granted {
    /// With the QoS granted, which may be lower than the one asked for.
    pub options: SubscribeOptions,
    /// Subscription Identifier (3.8.2.1.2).
    pub identifier: Option<u32>,
}

/// Filters and what was granted; `None` until it is.
#[derive(Debug)]
pub(crate) struct Subscriptions(Held);

/// Most sessions have one filter or a few: a list takes a third of the memory of a map there.
#[derive(Debug)]
enum Held {
    Few(Vec<(TopicFilter, Option<Granted>)>),
    #[expect(
        clippy::box_collection,
        reason = "the map itself would double the size of every session's field"
    )]
    Many(Box<HashMap<TopicFilter, Option<Granted>>>),
}

/// Longest list.
const FEW: usize = 8;

impl Default for Subscriptions {
    fn default() -> Self {
        Self(Held::Few(Vec::new()))
    }
}

impl Subscriptions {
    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            Held::Few(list) => list.len(),
            Held::Many(map) => map.len(),
        }
    }

    pub(crate) fn contains(&self, filter: &TopicFilter) -> bool {
        match &self.0 {
            Held::Few(list) => list.iter().any(|(held, _)| held == filter),
            Held::Many(map) => map.contains_key(filter),
        }
    }

    /// The client asks for `filter`; what it has already stays until the broker grants the new one.
    pub(crate) fn request(&mut self, filter: &TopicFilter) {
        if self.contains(filter) {
            return;
        }
        if let Held::Few(list) = &mut self.0
            && list.len() == FEW
        {
            self.0 = Held::Many(Box::new(list.drain(..).collect()));
        }
        // In memory of its own: it must not keep a read buffer alive for as long as the session.
        let filter = filter.detached();
        match &mut self.0 {
            Held::Few(list) => {
                list.reserve_exact(1);
                list.push((filter, None));
            }
            Held::Many(map) => {
                map.insert(filter, None);
            }
        }
    }

    /// The broker granted `filter`. One that is gone meanwhile stays gone.
    pub(crate) fn grant(&mut self, filter: &TopicFilter, granted: Granted) {
        if let Some(place) = self.place(filter) {
            *place = Some(granted);
        }
    }

    /// The broker refused `filter`: an older subscription to it stays.
    pub(crate) fn refuse(&mut self, filter: &TopicFilter) {
        if self.place(filter).is_some_and(|granted| granted.is_none()) {
            self.remove(filter);
        }
    }

    pub(crate) fn remove(&mut self, filter: &TopicFilter) {
        match &mut self.0 {
            Held::Few(list) => list.retain(|(held, _)| held != filter),
            Held::Many(map) => {
                map.remove(filter);
            }
        }
    }

    /// Removes all and returns them.
    pub(crate) fn take(&mut self) -> Vec<TopicFilter> {
        match std::mem::take(self).0 {
            Held::Few(list) => list.into_iter().map(|(filter, _)| filter).collect(),
            Held::Many(map) => map.into_keys().collect(),
        }
    }

    /// Those that are granted.
    pub(crate) fn granted(&self) -> impl Iterator<Item = (&TopicFilter, Granted)> {
        let (list, map) = match &self.0 {
            Held::Few(list) => (Some(list), None),
            Held::Many(map) => (None, Some(map)),
        };
        let listed = list
            .into_iter()
            .flatten()
            .map(|(filter, granted)| (filter, granted));
        let mapped = map.into_iter().flat_map(|map| map.iter());
        listed
            .chain(mapped)
            .filter_map(|(filter, granted)| Some((filter, (*granted)?)))
    }

    fn place(&mut self, filter: &TopicFilter) -> Option<&mut Option<Granted>> {
        match &mut self.0 {
            Held::Few(list) => list
                .iter_mut()
                .find(|(held, _)| held == filter)
                .map(|(_, granted)| granted),
            Held::Many(map) => map.get_mut(filter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(number: usize) -> TopicFilter {
        TopicFilter::new(&format!("plant/{number}/+")).unwrap()
    }

    fn granted(identifier: u32) -> Granted {
        Granted {
            options: SubscribeOptions::default(),
            identifier: Some(identifier),
        }
    }

    #[test]
    fn few_and_many_behave_alike() {
        for count in [1, FEW, FEW + 1, 100] {
            let mut subscriptions = Subscriptions::default();
            for number in 0..count {
                subscriptions.request(&filter(number));
                subscriptions.grant(&filter(number), granted(7));
            }
            subscriptions.request(&filter(0));
            assert_eq!(subscriptions.len(), count);
            assert_eq!(subscriptions.granted().count(), count);
            subscriptions.remove(&filter(0));
            assert!(!subscriptions.contains(&filter(0)));
            assert_eq!(subscriptions.take().len(), count - 1);
            assert_eq!(subscriptions.len(), 0);
        }
    }

    #[test]
    fn a_refused_change_leaves_the_subscription_as_it_was() {
        let mut subscriptions = Subscriptions::default();
        subscriptions.request(&filter(1));
        subscriptions.grant(&filter(1), granted(7));
        subscriptions.request(&filter(1));
        subscriptions.refuse(&filter(1));
        assert_eq!(
            subscriptions.granted().collect::<Vec<_>>(),
            [(&filter(1), granted(7))]
        );
    }

    #[test]
    fn a_refused_filter_is_forgotten() {
        let mut subscriptions = Subscriptions::default();
        subscriptions.request(&filter(1));
        assert_eq!(subscriptions.granted().count(), 0);
        subscriptions.refuse(&filter(1));
        assert_eq!(subscriptions.len(), 0);
    }

    #[test]
    fn a_grant_that_comes_after_unsubscribing_changes_nothing() {
        let mut subscriptions = Subscriptions::default();
        subscriptions.request(&filter(1));
        subscriptions.remove(&filter(1));
        subscriptions.grant(&filter(1), granted(7));
        assert_eq!(subscriptions.len(), 0);
    }
}
