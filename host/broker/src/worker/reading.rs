//! From bytes to packets to sessions: greeting, CONNECT, moving a client to its home worker.

use std::sync::Arc;

use bytes::Bytes;
use mio::net::TcpStream;
use tidegate_codec::{
    ClientId, ConnAck, Connect, DecodeError, Packet, Properties, QoS, ReasonCode, Version, connect_version,
};
use tidegate_session::{Input, Session, Time, check, refusal};

use super::clients::{Backlog, ClientKey, Publisher};
use super::connection::Received;
use super::rings::{Adoption, Parcel};
use super::tick::{Timer, Worker};

impl Worker {
    /// Takes in a new connection; it has [`crate::config::MqttSettings::connect_timeout`] to say CONNECT.
    pub(super) fn greet(&mut self, socket: TcpStream) {
        self.counters.accepted += 1;
        let per_worker_max = self.settings.connections_max.div_ceil(self.workers);
        if self.net.connections.len() >= per_worker_max {
            self.counters.turned_away += 1;
            return;
        }
        // Acknowledgements are small and must not wait for each other in the kernel (Nagle).
        if let Err(error) = socket.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        match self.net.adopt(socket) {
            Ok(key) => self.arm_connection(key, self.settings.connect_timeout),
            Err(error) => tracing::error!(%error, "cannot watch a connection"),
        }
    }

    /// Closes connection `key` after `wait`, unless it has a client by then.
    pub(super) fn arm_connection(&mut self, key: usize, wait: std::time::Duration) {
        self.serials += 1;
        let serial = self.serials;
        if let Some(connection) = self.net.get_mut(key) {
            connection.serial = serial;
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let deadline = Time(self.now.0.saturating_add(wait_ms));
            self.timers.arm(deadline, Timer::Connection(key, serial));
        }
    }

    /// Reads a socket once and passes on what came.
    pub(super) fn read(&mut self, key: usize) {
        let is_congested = self.rings.is_congested();
        let Some(connection) = self.net.connections.get_mut(key) else {
            return;
        };
        if connection.is_closing {
            return self.drain_closing(key);
        }
        if connection.is_paused || self.drain_since.is_some() {
            return;
        }
        if is_congested {
            return self.net.read_again(key);
        }
        // Answers to what it sends (PUBACK, PINGRESP) cannot be shed: a client that does not read them is not read
        // either, or its outbox would grow without bound. QoS 0 is shed at half of this.
        if connection.outbox.len() > self.settings.outbox_bytes_max.saturating_mul(2) {
            connection.is_stalled = true;
            return;
        }
        if let Some(kept) = connection.take_kept() {
            self.net.read_again(key);
            return self.digest(key, kept);
        }
        match connection.receive(&mut self.net.scratch) {
            Ok(Received::Bytes { input, more }) => {
                self.counters.reads += 1;
                self.digest(key, input);
                if more {
                    self.net.read_again(key);
                }
            }
            Ok(Received::Incomplete { more: true }) => self.net.read_again(key),
            Ok(Received::Incomplete { more: false }) => {}
            Ok(Received::Closed) => self.lose(key),
            Err(error) => self.refuse_bytes(key, &[], &error),
        }
    }

    /// Works through bytes of a connection, packet by packet.
    pub(super) fn digest(&mut self, key: usize, mut input: Bytes) {
        let packet_bytes_max = self.settings.packet_bytes_max;
        loop {
            let Some(connection) = self.net.get_mut(key) else {
                return;
            };
            if connection.is_closing {
                return;
            }
            if connection.is_paused {
                return connection.keep(&input);
            }
            match connection.next_packet(&mut input, packet_bytes_max) {
                Ok(None) => return,
                Ok(Some(packet)) => match connection.client {
                    Some(client) => self.take_packet(client, packet),
                    None => match packet {
                        // [MQTT-3.1.0-1] the first packet is CONNECT: the decoder lets no other through.
                        Packet::Connect(connect) => return self.direct(key, connect, input),
                        _ => return self.net.close(key),
                    },
                },
                Err(error) => return self.refuse_bytes(key, &input, &error),
            }
        }
    }

    /// A packet of a client; a PUBLISH beyond a 3.1.1 client's Receive Maximum is parked, everything else goes on.
    fn take_packet(&mut self, key: ClientKey, packet: Packet) {
        if let Packet::Publish(publish) = &packet {
            if let Some(count) = self.counters.received.get_mut(publish.qos as usize) {
                *count += 1;
            }
            let Some(client) = self.clients.get_mut(key) else {
                return;
            };
            let has_parked = client
                .backlog
                .as_ref()
                .is_some_and(|backlog| !backlog.parked.is_empty());
            // A QoS 2 message sent again may be one that takes up the room itself: parked, it would wait for its own end.
            let is_repeated = publish.dup && publish.qos == QoS::ExactlyOnce;
            let counts = publish.qos != QoS::AtMostOnce && !is_repeated;
            let is_over = counts && !client.publisher.is_v5 && !client.session.has_room();
            if has_parked || is_over {
                return self.park(key, packet);
            }
        }
        let makes_room = matches!(packet, Packet::PubRel(_));
        self.input(key, Input::Packet(packet));
        // A QoS 2 exchange counts until its PUBCOMP (4.9), which has just been sent.
        if makes_room {
            self.unpark(key);
        }
    }

    fn park(&mut self, key: ClientKey, packet: Packet) {
        let Some(client) = self.clients.get_mut(key) else {
            return;
        };
        let backlog: &mut Backlog = client.backlog.get_or_insert_default();
        let cost = parked_cost(&packet);
        backlog.parked.push_back(packet);
        self.charge(key, cost);
    }

    /// Gives parked PUBLISHes to the session while it has room.
    pub(super) fn unpark(&mut self, key: ClientKey) {
        loop {
            let Some(client) = self.clients.get_mut(key) else {
                return;
            };
            let Some(backlog) = &mut client.backlog else {
                return;
            };
            if !client.session.has_room() {
                return;
            }
            let Some(packet) = backlog.parked.pop_front() else {
                return;
            };
            self.discharge(key, parked_cost(&packet));
            self.input(key, Input::Packet(packet));
        }
    }

    /// Bytes that are no packet: tell a version 5 client why, then close. [MQTT-4.13.1-1]
    fn refuse_bytes(&mut self, key: usize, input: &[u8], error: &DecodeError) {
        self.counters.malformed += 1;
        tracing::debug!(%error, "closing a connection");
        let Some(connection) = self.net.get_mut(key) else {
            return;
        };
        if let Some(client) = connection.client {
            return self.input(client, Input::Fault(error.reason()));
        }
        // A CONNECT that cannot be read is answered in the version that it asks for; an unknown one as 3.1.1 would be.
        let version = connect_version(input).unwrap_or(Version::V311);
        let is_answered = match version {
            Version::V5 => connect_version(input).is_some(),
            Version::V311 => error.return_code().is_some(),
        };
        if !is_answered {
            return self.net.close(key);
        }
        connection.version = Some(version);
        let connack = ConnAck {
            session_present: false,
            reason: error.reason(),
            properties: Properties::empty(),
        };
        self.net.send(key, &Packet::ConnAck(Box::new(connack)));
        self.close_after_flush(key);
    }

    /// Sends a client to its home worker, or lets it in if that is this one.
    fn direct(&mut self, key: usize, mut connect: Box<Connect>, rest: Bytes) {
        let client_id = match connect.client_id.clone() {
            Some(client_id) => client_id,
            // A client without an id is at home wherever it is.
            None => return self.connect(key, connect, rest),
        };
        let home = home_of(&client_id, self.workers);
        if home == usize::from(self.number) {
            return self.connect(key, connect, rest);
        }
        if let Some(connection) = self.net.release(key) {
            connect.client_id = Some(client_id);
            let adoption = Adoption {
                socket: connection.socket,
                connect,
                rest,
            };
            self.rings.send(home, Parcel::Adopt(Box::new(adoption)));
        }
    }

    /// Takes over a connection whose client is at home here.
    pub(super) fn adopt(&mut self, adoption: Adoption) {
        match self.net.adopt(adoption.socket) {
            Ok(key) => self.connect(key, adoption.connect, adoption.rest),
            Err(error) => tracing::error!(%error, "cannot watch a connection"),
        }
    }

    fn connect(&mut self, key: usize, mut connect: Box<Connect>, rest: Bytes) {
        let Some(connection) = self.net.get_mut(key) else {
            return;
        };
        connection.version = Some(connect.version);
        let refused = match self.drain_since {
            Some(_) => Err(ReasonCode::ServerShuttingDown),
            None => check(&connect, &self.limits),
        };
        if let Err(reason) = refused {
            self.counters.turned_away += 1;
            if let Some(connack) = refusal(connect.version, reason) {
                self.net.send(key, &connack);
            }
            return self.close_after_flush(key);
        }
        let client_id = match &connect.client_id {
            Some(client_id) => client_id.clone(),
            None => self.assign_client_id(),
        };
        let publisher = Arc::new(Publisher {
            username: connect.credentials.username.take(),
            is_v5: connect.version == Version::V5,
            client_id: client_id.clone(),
        });
        if let Some(client) = self.clients.find(&client_id) {
            self.take_over(client);
        }
        // A session that ended with its connection is gone by now.
        let client = match self.clients.find(&client_id) {
            Some(client) => client,
            None => {
                let session = Session::new(client_id, Arc::clone(&self.limits));
                self.clients.insert(session, Arc::clone(&publisher))
            }
        };
        if let Some(connection) = self.net.get_mut(key) {
            connection.client = Some(client);
        }
        if let Some(found) = self.clients.get_mut(client) {
            found.connection = Some(key);
            found.publisher = publisher;
        }
        self.input(client, Input::Connect(connect));
        self.replays.wake(client);
        self.tell_presence(client, true);
        self.rearm(client);
        if !rest.is_empty() {
            self.digest(key, rest);
        }
        // What came after the CONNECT while the socket changed workers is seen by its first event here.
    }

    /// [MQTT-3.1.4-3] the older connection leaves first, so that its will is on its way before the new one reads.
    fn take_over(&mut self, key: ClientKey) {
        if self
            .clients
            .get(key)
            .is_some_and(|client| client.connection.is_some())
        {
            self.input(key, Input::TakenOver);
        }
    }

    /// An id that is unique in this process's life and that no client would choose by accident. [MQTT-3.1.3-6]
    fn assign_client_id(&mut self) -> ClientId {
        loop {
            self.serials += 1;
            let text = format!("auto-{:x}-{:x}-{:x}", self.unix_ms, self.number, self.serials);
            let Some(client_id) = ClientId::new(&text) else {
                continue;
            };
            let is_home = home_of(&client_id, self.workers) == usize::from(self.number);
            if is_home && self.clients.find(&client_id).is_none() {
                return client_id;
            }
        }
    }
}

/// The worker that a client belongs to: the same for every connection of that client.
pub fn home_of(client_id: &ClientId, workers: usize) -> usize {
    // FNV-1a: fixed, so that a restart with the same workers keeps clients where they were.
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = client_id.as_str().bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    // The low bits of FNV are weak for ids that end alike.
    usize::try_from((hash >> 32) ^ (hash & 0xffff_ffff)).unwrap_or(0) % workers.max(1)
}

fn parked_cost(packet: &Packet) -> usize {
    const FLAT: usize = 128;
    match packet {
        Packet::Publish(publish) => FLAT + publish.payload.len(),
        _ => FLAT,
    }
}
