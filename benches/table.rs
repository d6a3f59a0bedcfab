//! The table of ratios.

use serde::Serialize;
use std::{fmt, time::Duration};

/// One comparison.
#[derive(Serialize)]
#[non_exhaustive]
pub struct Row {
    pub name: &'static str,
    /// Here, p50, in the row's unit.
    pub here: f64,
    /// Native Luau, p50; nothing where there is no peer.
    pub native: Option<f64>,
    /// What must be reached: a ratio, or an absolute number where there is no peer.
    pub target: Option<f64>,
    pub unit: &'static str,
    pub ratio: Option<f64>,
}

impl Row {
    pub fn new(name: &'static str, here: f64, native: Option<f64>, target: Option<f64>, unit: &'static str) -> Self {
        Self { name, here, native, target, unit, ratio: native.map(|native| here / native) }
    }

    /// What the target is about.
    fn measure(&self) -> f64 {
        self.ratio.unwrap_or(self.here)
    }
}

/// All comparisons of a run.
#[derive(Default, Serialize)]
pub struct Table {
    pub rows: Vec<Row>,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<62} {:>12} {:>12} {:>7} {:>8}", "", "here", "native", "ratio", "target")?;
        for row in &self.rows {
            let unit = row.unit;
            let here = format!("{:.1} {unit}", row.here);
            let native = row.native.map_or(String::new(), |native| format!("{native:.1} {unit}"));
            let ratio = row.ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
            let target =
                row.target.map_or(String::new(), |target| format!("{target}{}", if row.measure() <= target { "" } else { " MISSED" }));
            writeln!(f, "{:<62} {here:>12} {native:>12} {ratio:>7} {target:>8}", row.name)?;
        }
        Ok(())
    }
}

/// The middle of the samples, in microseconds.
pub fn median(mut samples: Vec<Duration>) -> f64 {
    samples.sort();
    samples[samples.len() / 2].as_secs_f64() * 1e6
}
