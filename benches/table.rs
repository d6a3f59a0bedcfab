//! The table of results.

use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt, time::Duration};

/// One comparison.
#[derive(Deserialize, Serialize)]
#[non_exhaustive]
pub struct Row {
    pub name: Cow<'static, str>,
    /// The p50 of toolscript in `unit`, unless the name says otherwise.
    pub toolscript: f64,
    /// The p50 of the reference, such as native Luau.
    pub reference: Option<f64>,
    /// The largest acceptable ratio, or the largest acceptable value if there is no reference.
    pub target: Option<f64>,
    pub unit: Cow<'static, str>,
    pub ratio: Option<f64>,
}

impl Row {
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        toolscript: f64,
        reference: Option<f64>,
        target: Option<f64>,
        unit: &'static str,
    ) -> Self {
        let ratio = reference.map(|reference| toolscript / reference);
        Self { name: name.into(), toolscript, reference, target, unit: unit.into(), ratio }
    }

    /// Returns the value that is compared with the target.
    fn measure(&self) -> f64 {
        self.ratio.unwrap_or(self.toolscript)
    }
}

/// All rows of a benchmark.
#[derive(Default, Deserialize, Serialize)]
pub struct Table {
    pub rows: Vec<Row>,
}

impl Table {
    /// Describes how the rows differ from those of an earlier table with the same names.
    pub fn compare(&self, earlier: &Self) -> String {
        let mut text = format!("{:<62} {:>10} {:>10} {:>8}\n", "", "earlier", "now", "change");
        for row in &self.rows {
            let Some(before) = earlier.rows.iter().find(|before| before.name == row.name) else { continue };
            let (before, now) = (before.measure(), row.measure());
            text.push_str(&format!("{:<62} {before:>10.3} {now:>10.3} {:>7.1}%\n", row.name, (now / before - 1.0) * 100.0));
        }
        text
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<62} {:>12} {:>12} {:>7} {:>8}", "", "toolscript", "reference", "ratio", "target")?;
        for row in &self.rows {
            let unit = &row.unit;
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
