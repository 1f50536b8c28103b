//! A PUBLISH encoded once per client; for each message only its identifier and stamp are written again.

use bytes::{Bytes, BytesMut};
use tidegate_codec::{EncodeError, Packet, PacketId, Properties, Publish, QoS, TopicName, Version, encode};

use super::{Stamp, StampForm, StampPlace};

/// The bytes of a publisher's messages, with the places that change.
#[derive(Debug)]
pub struct PublishFrame {
    bytes: Box<[u8]>,
    packet_id_at: Option<usize>,
    stamp_at: Option<(usize, StampForm)>,
}

impl PublishFrame {
    /// Encodes a message with `payload`, whose stamp (if it has one) stands at `stamp`.
    pub fn new(
        version: Version,
        topic: TopicName,
        qos: QoS,
        (payload, stamp): (Bytes, Option<StampPlace>),
    ) -> Result<Self, EncodeError> {
        let payload_bytes = payload.len();
        let packet = Packet::Publish(Publish {
            topic: Some(topic),
            payload,
            properties: Properties::empty(),
            qos,
            packet_id: (qos != QoS::AtMostOnce).then(|| PacketId::new(1)).flatten(),
            retain: false,
            dup: false,
        });
        let mut bytes = BytesMut::new();
        encode::encode(&packet, version, &mut bytes)?;
        let payload_at = bytes.len() - payload_bytes;
        // Between identifier and payload stands nothing in 3.1.1 and an empty property block in 5.0.
        let properties = usize::from(version == Version::V5);
        Ok(Self {
            bytes: bytes.as_ref().into(),
            packet_id_at: (qos != QoS::AtMostOnce).then_some(payload_at - properties - 2),
            stamp_at: stamp.map(|place| (payload_at + place.offset, place.form)),
        })
    }

    /// Appends one message. `packet_id` is ignored at QoS 0.
    #[inline]
    pub fn append(&self, packet_id: u16, stamp: &Stamp, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        if let Some(at) = self.packet_id_at
            && let Some(place) = out.get_mut(start + at..start + at + 2)
        {
            place.copy_from_slice(&packet_id.to_be_bytes());
        }
        if let Some((at, form)) = self.stamp_at
            && let Some(place) = out.get_mut(start + at..)
        {
            stamp.write(form, place);
        }
    }

    /// Bytes of one message on the wire.
    pub fn wire_bytes(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::take_frame;

    #[test]
    fn what_is_patched_is_read_back_at_every_qos_and_version() {
        let place = StampPlace {
            offset: 4,
            form: StampForm::Binary,
        };
        let stamp = Stamp {
            intended: 1 << 40,
            publisher: 3,
            sequence: 9,
        };
        for version in [Version::V311, Version::V5] {
            for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
                let topic = TopicName::new("a/b").unwrap();
                let frame =
                    PublishFrame::new(version, topic, qos, (vec![b'-'; 200].into(), Some(place))).unwrap();
                let mut out = b"earlier".to_vec();
                frame.append(0x1234, &stamp, &mut out);
                assert_eq!(out.len(), 7 + frame.wire_bytes());
                let mut input = &out[7..];
                let delivery = take_frame(&mut input)
                    .unwrap()
                    .unwrap()
                    .delivery(version)
                    .unwrap();
                assert!(input.is_empty());
                assert_eq!(delivery.qos, qos);
                assert_eq!(
                    delivery.packet_id,
                    if qos == QoS::AtMostOnce { 0 } else { 0x1234 }
                );
                assert_eq!(delivery.payload.len(), 200);
                assert_eq!(&delivery.payload[..4], b"----");
                assert_eq!(Stamp::read(place, delivery.payload), Some(stamp));
            }
        }
    }
}
