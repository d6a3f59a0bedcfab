//! Embeds toolscript in a Rust program: functions that scripts call, files, and limits.

use serde::{Deserialize, Serialize};
use std::{error::Error, time::Duration};
use toolscript::{Engine, Files, Limits, Sandbox, engine::Listener, files::WriteMode, sandbox::ExecOptions};

#[derive(Deserialize)]
struct Query {
    city: String,
}

#[derive(Serialize)]
struct Weather {
    degrees: i32,
}

/// Prints the log lines of a script while it runs.
struct LogPrinter;

impl Listener for LogPrinter {
    fn line(&self, line: &str) {
        println!("script: {line}");
    }
}

const SCRIPT: &str = r#"
local file = io.open("weather.csv", "w")
for _, city in { "Oslo", "Cairo", "Atlantis" } do
    local ok, result = pcall(sdk.weather.today, { city = city })
    print(city, if ok then result.degrees else result)
    if ok then
        file:write(city, ",", result.degrees, "\n")
    end
end
file:close()
"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::builder()
        // serde checks the types of the arguments before the closure is called.
        .async_function("weather.today", |query: Query| async move {
            match query.city.as_str() {
                "Oslo" => Ok(Weather { degrees: -3 }),
                "Cairo" => Ok(Weather { degrees: 24 }),
                city => Err(format!("no weather data for {city}")),
            }
        })
        .build()?;
    let limits = Limits::default().with_timeout(Duration::from_secs(5));

    let io_dir = std::env::args().nth(1).unwrap_or_else(|| "embed-rust-files".into());
    let sandbox = Sandbox::new(engine, Files::new(io_dir)?).with_limits(limits);
    sandbox.write("weather.luau", SCRIPT, WriteMode::Overwrite).await?;
    let options = ExecOptions::default().with_listener(std::sync::Arc::new(LogPrinter));
    let script = sandbox.read_raw("weather.luau").await?;
    let run = sandbox.exec(script, options).await;
    println!("exit code {}", run.exit_code);
    print!("{}", String::from_utf8_lossy(&sandbox.read_raw("weather.csv").await?));
    Ok(())
}
