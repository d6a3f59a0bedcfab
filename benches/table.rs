//! The table of results.

use serde::Serialize;
use std::{fmt, time::Duration};

/// One comparison.
#[derive(Serialize)]
#[non_exhaustive]
pub struct Row {
    pub name: &'static str,
    /// The p50 of toolscript in `unit`, unless the name says otherwise.
    pub toolscript: f64,
    /// The p50 of the reference, such as native Luau.
    pub reference: Option<f64>,
    /// The largest acceptable ratio, or the largest acceptable value if there is no reference.
    pub target: Option<f64>,
    pub unit: &'static str,
    pub ratio: Option<f64>,
}

impl Row {
    pub fn new(name: &'static str, toolscript: f64, reference: Option<f64>, target: Option<f64>, unit: &'static str) -> Self {
        Self { name, toolscript, reference, target, unit, ratio: reference.map(|reference| toolscript / reference) }
    }

    /// Returns the value that is compared with the target.
    fn measure(&self) -> f64 {
        self.ratio.unwrap_or(self.toolscript)
    }
}

/// All rows of a benchmark.
#[derive(Default, Serialize)]
pub struct Table {
    pub rows: Vec<Row>,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<62} {:>12} {:>12} {:>7} {:>8}", "", "toolscript", "reference", "ratio", "target")?;
        for row in &self.rows {
            let unit = row.unit;
            let toolscript = format!("{:.1} {unit}", row.toolscript);
            let reference = row.reference.map_or(String::new(), |reference| format!("{reference:.1} {unit}"));
            let ratio = row.ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
            let target =
                row.target.map_or(String::new(), |target| format!("{target}{}", if row.measure() <= target { "" } else { " MISSED" }));
            writeln!(f, "{:<62} {toolscript:>12} {reference:>12} {ratio:>7} {target:>8}", row.name)?;
        }
        Ok(())
    }
}

/// Returns the median of the samples in microseconds.
pub fn median(mut samples: Vec<Duration>) -> f64 {
    samples.sort();
    samples[samples.len() / 2].as_secs_f64() * 1e6
}
