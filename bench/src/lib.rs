//! Load generator, floor server, scenarios and reports.
