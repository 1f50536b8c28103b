//! Validates temperature readings, converts them to Celsius, raises alarms and stores rows.
//!
//! Invariant: a reading that goes on is in range, in Celsius, and stored with exactly the bytes that go on.
//! Deliberately does not: remember anything between messages.

pub mod limits;
pub mod reading;

use serde::Serialize;
use tidegate::{Effects, Error, Json, Message, Verdict, rule};

use limits::Limits;
use reading::Reading;

/// What goes on and what is stored.
#[derive(Serialize)]
struct Row<'a> {
    station: &'a str,
    time: &'a str,
    celsius: f64,
    module_version: &'static str,
}

/// The rule.
///
/// # Errors
/// If the station's name cannot stand in a topic.
#[rule]
pub fn telemetry(
    reading: Json<Reading<'_>>,
    _message: &Message<'_>,
    effects: &mut Effects,
    limits: &Limits,
) -> Result<Verdict, Error> {
    let station = reading.station()?;
    let celsius = reading.celsius();
    if !limits.plausible(celsius) {
        return Ok(Verdict::Drop);
    }
    if let Some(alarm) = limits.alarm(station, &reading.time, celsius) {
        effects.publish(format!("alarms/{station}")).json(&alarm)?;
    }
    let row = Row {
        station,
        time: &reading.time,
        celsius,
        module_version: env!("CARGO_PKG_VERSION"),
    };
    let rewrite = Verdict::rewrite().json(&row)?;
    effects.emit("rows").key(station).body(rewrite.body())?;
    Ok(rewrite.into())
}
