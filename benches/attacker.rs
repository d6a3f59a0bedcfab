//! Attacks a server for the benchmark: `attacker URL TOKEN NUMBER`.

use anyhow::{Context as _, Result};
use std::env;
use toolscript_bench::run_attack;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [url, token, number] = &arguments[..] else { anyhow::bail!("the arguments are URL TOKEN NUMBER") };
    let number = number.parse().context("NUMBER")?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run_attack(url, token, number))
}
