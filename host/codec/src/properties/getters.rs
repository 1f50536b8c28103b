//! The typed getters: one per property of table 2-4. Each costs a bit test where the property is absent, and one
//! pass up to it where it is there. Defaults are the asker's: absence has its own meaning in each section.

use super::{Properties, Property, PropertyId};
use crate::QoS;

/// A getter per property: its name, its result, the property and how its value becomes the result.
macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $result:ty = $property:ident($value:ident) => $of:expr;)*) => {
        impl Properties {
            $($(#[$doc])*
            pub fn $name(&self) -> Option<$result> {
                match self.get(PropertyId::$property)? {
                    Property::$property($value) => $of,
                    _ => None,
                }
            })*
        }
    };
}

getters! {
    /// Whether the payload is UTF-8 text (3.3.2.3.2).
    payload_is_text: bool = PayloadFormatIndicator(value) => Some(value == 1);
    /// Seconds a message may wait (3.3.2.3.3).
    message_expiry_interval: u32 = MessageExpiryInterval(value) => Some(value);
    /// 3.3.2.3.9
    content_type: &str = ContentType(value) => Some(value);
    /// 3.3.2.3.5
    response_topic: &str = ResponseTopic(value) => Some(value);
    /// 3.3.2.3.6
    correlation_data: &[u8] = CorrelationData(value) => Some(value);
    /// The only or first one, as a SUBSCRIBE has it (3.8.2.1.2).
    subscription_identifier: u32 = SubscriptionIdentifier(value) => Some(value);
    /// Seconds; `u32::MAX` means never (3.1.2.11.2).
    session_expiry_interval: u32 = SessionExpiryInterval(value) => Some(value);
    /// 3.2.2.3.7
    assigned_client_identifier: &str = AssignedClientIdentifier(value) => Some(value);
    /// Seconds (3.2.2.3.14).
    server_keep_alive: u16 = ServerKeepAlive(value) => Some(value);
    /// 3.1.2.11.9
    authentication_method: &str = AuthenticationMethod(value) => Some(value);
    /// 3.1.2.11.10
    authentication_data: &[u8] = AuthenticationData(value) => Some(value);
    /// Absent means true (3.1.2.11.7).
    request_problem_information: bool = RequestProblemInformation(value) => Some(value == 1);
    /// Seconds (3.1.3.2.2).
    will_delay_interval: u32 = WillDelayInterval(value) => Some(value);
    /// Absent means false (3.1.2.11.6).
    request_response_information: bool = RequestResponseInformation(value) => Some(value == 1);
    /// 3.2.2.3.15
    response_information: &str = ResponseInformation(value) => Some(value);
    /// 3.2.2.3.16
    server_reference: &str = ServerReference(value) => Some(value);
    /// 3.4.2.2.2
    reason_string: &str = ReasonString(value) => Some(value);
    /// Above 0; absent means 65,535 (3.1.2.11.3).
    receive_maximum: u16 = ReceiveMaximum(value) => Some(value);
    /// Absent means 0 (3.1.2.11.5).
    topic_alias_maximum: u16 = TopicAliasMaximum(value) => Some(value);
    /// Above 0 (3.3.2.3.4).
    topic_alias: u16 = TopicAlias(value) => Some(value);
    /// Absent means 2 (3.2.2.3.4).
    maximum_qos: QoS = MaximumQoS(value) => QoS::from_bits(value);
    /// Absent means true (3.2.2.3.5).
    retain_available: bool = RetainAvailable(value) => Some(value == 1);
    /// Bytes, above 0; absent means no limit (3.1.2.11.4).
    maximum_packet_size: u32 = MaximumPacketSize(value) => Some(value);
    /// Absent means true (3.2.2.3.11).
    wildcard_subscription_available: bool = WildcardSubscriptionAvailable(value) => Some(value == 1);
    /// Absent means true (3.2.2.3.12).
    subscription_identifier_available: bool = SubscriptionIdentifierAvailable(value) => Some(value == 1);
    /// Absent means true (3.2.2.3.13).
    shared_subscription_available: bool = SharedSubscriptionAvailable(value) => Some(value == 1);
}

impl Properties {
    /// Every subscription identifier (3.3.2.3.8).
    pub fn subscription_identifiers(&self) -> impl Iterator<Item = u32> {
        let any = self
            .contains(PropertyId::SubscriptionIdentifier)
            .then(|| self.iter());
        any.into_iter().flatten().filter_map(|property| match property {
            Property::SubscriptionIdentifier(id) => Some(id),
            _ => None,
        })
    }

    /// Every user property, in order [MQTT-3.3.2-18].
    pub fn user_properties(&self) -> impl Iterator<Item = (&str, &str)> {
        let any = self.contains(PropertyId::UserProperty).then(|| self.iter());
        any.into_iter().flatten().filter_map(|property| match property {
            Property::UserProperty(name, value) => Some((name, value)),
            _ => None,
        })
    }
}
