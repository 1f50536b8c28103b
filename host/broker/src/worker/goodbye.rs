//! How connections end: lost, closed by the broker, timed out, and all of them when the broker shuts down.

use std::time::Duration;

use tidegate_session::Input;

use super::connection::Received;
use super::tick::Worker;

/// How long a closing connection may take to read its last packet.
const LINGER: Duration = Duration::from_secs(2);

/// How long a worker stays at least: its peers learn of the drain a little later, and may have to ask it for something.
const DRAIN_MIN_MS: u64 = 50;

/// How long a drain waits for receipts of messages already admitted.
const DRAIN_WAIT_MS: u64 = 10_000;

impl Worker {
    /// The peer is gone: no packet can be sent any more.
    pub(super) fn lose(&mut self, key: usize) {
        let client = self.net.get_mut(key).and_then(|connection| connection.client);
        self.net.close(key);
        let Some(client) = client else { return };
        let Some(found) = self.clients.get_mut(client) else {
            return;
        };
        if found.connection == Some(key) {
            found.connection = None;
            found.backlog = None;
            self.counters.dropped_qos0 += self.pipeline.forget_held(client);
            self.tell_presence(client, false);
            self.input(client, Input::Lost);
            self.rearm(client);
        }
    }

    /// Closes a connection of the broker's own accord: what is in its outbox is written, then the sending side is shut,
    /// and the socket is closed when the peer has closed too. Closing at once would throw away, with what the peer had
    /// sent meanwhile, the DISCONNECT that it has not read yet.
    pub(super) fn close_after_flush(&mut self, key: usize) {
        let Some(connection) = self.net.get_mut(key) else {
            return;
        };
        connection.client = None;
        connection.is_closing = true;
        connection.is_paused = false;
        self.net.touch(key);
        self.arm_connection(key, LINGER);
    }

    /// Reads and forgets what a peer still sends on a connection that is being closed.
    pub(super) fn drain_closing(&mut self, key: usize) {
        let Some(connection) = self.net.connections.get_mut(key) else {
            return;
        };
        match connection.receive(&mut self.net.scratch) {
            Ok(Received::Closed) => self.net.close(key),
            Ok(Received::Bytes { more: true, .. } | Received::Incomplete { more: true }) => {
                self.net.read_again(key);
            }
            Ok(_) => {}
            Err(_) => self.net.close(key),
        }
    }

    /// A connection that has said no CONNECT in time, or has lingered long enough.
    pub(super) fn expire_connection(&mut self, key: usize, serial: u64) {
        let Some(connection) = self.net.get_mut(key) else {
            return;
        };
        if connection.serial == serial && connection.client.is_none() {
            if !connection.is_closing {
                self.counters.turned_away += 1;
            }
            self.net.close(key);
        }
    }

    /// Begins to shut down: no new connections, no more reading; what is admitted is settled first.
    pub(super) fn start_drain(&mut self) {
        if self.drain_since.is_some() {
            return;
        }
        self.drain_since = Some(self.now);
        self.listener = None;
        for (_, connection) in &mut self.net.connections {
            connection.is_paused = true;
        }
    }

    /// Whether the drain is over: nothing waits for a receipt, or it has taken too long. Says goodbye to everyone.
    pub(super) fn is_drained(&mut self) -> bool {
        let Some(since) = self.drain_since else {
            return false;
        };
        let (pending, _) = self.pipeline.waiting();
        let is_late = self.now.0.saturating_sub(since.0) > DRAIN_WAIT_MS;
        let is_early = self.now.0.saturating_sub(since.0) < DRAIN_MIN_MS;
        if is_early || (pending > 0 && !is_late) {
            return false;
        }
        if pending > 0 {
            tracing::warn!(
                worker = self.number,
                pending,
                "shutting down with messages that were not acknowledged"
            );
        }
        self.say_goodbye();
        true
    }

    /// Sends every client its last packets and DISCONNECT.
    fn say_goodbye(&mut self) {
        for key in self.clients.keys() {
            self.input(key, Input::Shutdown);
        }
        // The wills that the goodbyes have brought about.
        self.admit();
        self.rings.flush();
        let mut failed = Vec::new();
        self.net.flush(&mut failed);
    }
}
