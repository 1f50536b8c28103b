//! Version 1.1.0 of the telemetry module, for a swap under traffic: each row also says how much heating the hour asked for.
//!
//! Limits and readings are those of 1.0.0, from its own files.
//! Deliberately does not: depend on the package of 1.0.0, which is a component of its own.

#[path = "../../../../modules/telemetry/src/limits.rs"]
pub mod limits;
#[path = "../../../../modules/telemetry/src/reading.rs"]
pub mod reading;

use serde::Serialize;
use tidegate::{Effects, Error, Json, Message, Verdict, rule};

use limits::Limits;
use reading::Reading;

/// Below this outdoor temperature buildings are heated: 65 °F, the base of degree days in the United States.
const HEATING_BASE_CELSIUS: f64 = 18.33;

/// What goes on and what is stored.
#[derive(Serialize)]
struct Row<'a> {
    station: &'a str,
    time: &'a str,
    celsius: f64,
    heating_degrees: f64,
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
        heating_degrees: heating_degrees(celsius),
        module_version: env!("CARGO_PKG_VERSION"),
    };
    let rewrite = Verdict::rewrite().json(&row)?;
    effects.emit("rows").key(station).body(rewrite.body())?;
    Ok(rewrite.into())
}

/// Degrees below the base, to the hundredth.
fn heating_degrees(celsius: f64) -> f64 {
    ((HEATING_BASE_CELSIUS - celsius).max(0.0) * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use tidegate::{Rule, test};

    #[test]
    fn rows_carry_heating_degrees_and_the_new_version() {
        let message = |celsius: f64| {
            test::message("stations/a/telemetry").json(
                &serde_json::json!({ "station": "a", "time": "t", "temperature": celsius, "unit": "C" }),
            )
        };
        let outcomes = test::run::<super::telemetry>([message(4.0), message(25.0)]);
        let rows: Vec<_> = outcomes.iter().map(|outcome| outcome.emitted[0].json()).collect();
        assert_eq!(rows[0]["heating_degrees"], 14.33);
        assert_eq!(rows[1]["heating_degrees"], 0.0);
        assert_eq!(rows[0]["module_version"], "1.1.0");
    }

    #[test]
    fn package_and_manifest_are_of_one_version() {
        assert!(super::telemetry::MANIFEST.contains(concat!(
            "version = \"",
            env!("CARGO_PKG_VERSION"),
            "\""
        )));
    }
}
