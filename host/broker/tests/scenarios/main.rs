//! The scenarios: each file is one sentence about the broker, proven against a real one over real sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)] // a failure is the test's
#![allow(clippy::disallowed_methods)] // deadlines of the tests themselves

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../rules/tests/support/mod.rs"]
mod support;

mod every_qos_of_both_versions_crosses_workers;
mod order_of_a_publisher_is_kept_across_workers;
mod overlapping_subscriptions_give_one_copy;

mod a_row_is_committed_before_its_acknowledgement;
mod a_rule_without_a_module_stores_what_passes;
mod every_message_of_a_rule_is_accounted_for;

mod a_bad_component_changes_nothing;
mod a_module_is_swapped_while_messages_flow;
mod messages_wait_for_a_module_not_there_yet;

mod a_full_disk_withholds_acknowledgements;
mod a_locked_database_holds_only_its_publishers;
mod a_parked_publish_flows_when_there_is_room;

mod a_failing_module_is_left_alone;
mod a_hostile_message_costs_nobody_else;

mod delayed;
mod modules_are_listed_activated_and_rolled_back;
mod retained;
mod shared_subscriptions;
mod sys_topics;
mod the_admin_api_lets_only_the_right_ones_in;
mod wrong_requests_get_problem_documents;

mod a_second_broker_is_refused;
mod sigterm_settles_before_the_end;
mod the_configuration_is_checked_as_a_whole;

mod a_killed_broker_has_lost_nothing_acknowledged;

mod a_client_that_breaks_the_protocol_is_told;
mod a_client_that_does_not_read_is_not_read;
mod a_lost_client_leaves_a_will;
mod a_persistent_session_is_resumed;
mod a_second_connection_takes_over;
mod a_slow_subscriber_blocks_nobody;
