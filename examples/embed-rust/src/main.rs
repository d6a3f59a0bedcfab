//! A program of one's own with toolscript inside: functions that scripts call, files, and limits.

use serde::{Deserialize, Serialize};
use std::{error::Error, time::Duration};
use toolscript::{Engine, Files, Limits, Sandbox, engine::Listener, files::WriteMode, sandbox::ExecOptions};

#[derive(Deserialize)]
struct Place {
    city: String,
}

#[derive(Serialize)]
struct Weather {
    degrees: i32,
}

/// Shows what a script prints as it comes.
struct Printer;

impl Listener for Printer {
    fn line(&self, line: &str) {
        println!("script: {line}");
    }
}

const SCRIPT: &str = r#"
local out = io.open("weather.csv", "w")
for _, city in { "Oslo", "Cairo", "Atlantis" } do
    local ok, answer = pcall(sdk.weather.today, { city = city })
    print(city, if ok then answer.degrees else answer)
    if ok then
        out:write(city, ",", answer.degrees, "\n")
    end
end
out:close()
"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::builder()
        // Typed by serde: what a script passes is checked before the closure sees it.
        .async_function("weather.today", |place: Place| async move {
            match place.city.as_str() {
                "Oslo" => Ok(Weather { degrees: -3 }),
                "Cairo" => Ok(Weather { degrees: 24 }),
                city => Err(format!("there is no weather in {city}")),
            }
        })
        .build()?;
    let limits = Limits::default().with_timeout(Duration::from_secs(5));

    let folder = std::env::args().nth(1).unwrap_or_else(|| "embed-rust-files".into());
    let sandbox = Sandbox::new(engine, Files::new(folder)?).with_limits(limits);
    sandbox.write("weather.luau", SCRIPT, WriteMode::Overwrite).await?;
    let options = ExecOptions::default().with_listener(std::sync::Arc::new(Printer));
    let script = sandbox.read_raw("weather.luau").await?;
    let done = sandbox.exec(script, options).await;
    println!("exit code {}", done.exit_code);
    print!("{}", String::from_utf8_lossy(&sandbox.read_raw("weather.csv").await?));
    Ok(())
}
