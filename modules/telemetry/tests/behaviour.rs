//! The rule through the SDK's packing: the cases beside it, and what a case cannot say.

use telemetry::telemetry;
use tidegate::{Rule, Verdict, test};

#[test]
fn the_cases_hold() {
    test::cases::<telemetry>(include_str!("../cases.json"));
}

#[test]
fn the_row_is_stored_with_the_bytes_that_go_on() {
    let outcomes = test::run::<telemetry>([test::message("stations/a/telemetry")
        .text(r#"{"station":"a","time":"t","temperature":50,"unit":"F"}"#)]);
    let Verdict::Rewrite(rewrite) = &outcomes[0].verdict else {
        panic!("{outcomes:?}")
    };
    assert_eq!(rewrite.body(), outcomes[0].emitted[0].body);
}

#[test]
fn a_bad_message_leaves_its_neighbours_alone() {
    let good = || {
        test::message("stations/a/telemetry")
            .text(r#"{"station":"a","time":"t","temperature":50,"unit":"F"}"#)
    };
    let outcomes = test::run::<telemetry>([good(), test::message("stations/a/telemetry").text("{"), good()]);
    assert!(
        matches!(outcomes[1].verdict, Verdict::DeadLetter(_)),
        "{outcomes:?}"
    );
    assert_eq!(outcomes[0], outcomes[2]);
    assert_eq!(outcomes[0].emitted.len(), 1);
}

#[test]
fn limits_out_of_order_are_refused() {
    for (key, value, named) in [
        ("alarm_above", "-30", "must not decrease"),
        ("range_max", "warm", "`range_max`"),
    ] {
        let refused = test::Setup::new()
            .config(key, value)
            .try_run::<telemetry>([])
            .expect_err(key);
        assert!(refused.to_string().contains(named), "{refused}");
    }
}

#[test]
fn package_and_manifest_are_of_one_version() {
    assert!(telemetry::MANIFEST.contains(concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"")));
}
