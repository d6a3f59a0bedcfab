//! The Rust examples in README and docs, word for word: `documentation.rs` checks that each of them is in this file.

use serde::{Deserialize, Serialize};
use std::error::Error;
use tempfile::TempDir;

#[derive(Deserialize)]
struct Place {
    city: String,
}

#[derive(Serialize)]
struct Weather {
    degrees: i32,
}

async fn forecast(city: &str) -> Result<Weather, String> {
    if city == "Oslo" { Ok(Weather { degrees: -3 }) } else { Err(format!("no forecast for {city}")) }
}

#[tokio::test]
async fn readme() -> Result<(), Box<dyn Error>> {
    let engine = toolscript::Engine::builder().function("math.double", |number: f64| Ok::<_, String>(number * 2.0)).build()?;
    let script = toolscript::Script::new("return sdk.math.double(21)");
    let run = engine.run(&script, toolscript::RunOptions::default()).await?;
    assert_eq!(run.outcome.decode::<i32>()?, 42);
    Ok(())
}

#[tokio::test]
async fn check() -> Result<(), Box<dyn Error>> {
    let engine = toolscript::Engine::new()?;
    let script = toolscript::Script::new("return string.trim(' x ')");
    let mistakes = engine.check(&script, &toolscript::engine::Definitions::default()).await?;
    assert_eq!(mistakes[0].to_string(), "script:1:15: string has no 'trim'; use s:match(\"^%s*(.-)%s*$\")");
    Ok(())
}

#[tokio::test]
async fn engine_files_and_sandbox() -> Result<(), Box<dyn Error>> {
    let directory = TempDir::new()?;
    let data = directory.path().join("data");

    let engine = toolscript::Engine::new()?;
    let script = toolscript::Script::new("return 6 * 7");
    let run = engine.run(&script, toolscript::RunOptions::default()).await?;
    assert_eq!(run.outcome.decode::<i32>()?, 42);

    let io = toolscript::engine::IoOptions::new(toolscript::Files::new(&data)?);
    let options = toolscript::RunOptions::default().with_io(io);
    let run = engine.run(&toolscript::Script::new("io.open('x', 'w'):write('hi'):close()"), options).await?;
    assert_eq!(run.outcome.files_touched[0].name, "x");

    let sandbox = toolscript::Sandbox::new(engine, toolscript::Files::new(&data)?).with_working_directory("desk")?;
    sandbox.write("main.luau", "print('hello', ...)", toolscript::files::WriteMode::Create).await?;
    let done = sandbox.execute("luau main.luau you").await;
    assert_eq!((done.output.as_str(), done.exit_code), ("hello\tyou\n", 0));

    let options = toolscript::sandbox::ExecOptions::default().with_environment([("CITY", "Oslo")]);
    let running = sandbox.spawn("print(env.CITY) while true do end", options.with_timeout(std::time::Duration::from_millis(500)));
    let done = running.wait().await;
    assert_eq!((done.stdout(), done.stderr(), done.exit_code), ("Oslo\n", "error: timeout: the script ran longer than 0.5 s\n", 3));
    Ok(())
}

#[tokio::test]
async fn functions() -> Result<(), Box<dyn Error>> {
    let engine = toolscript::Engine::builder()
        .function("math.double", |number: f64| Ok::<_, String>(number * 2.0))
        .async_function("weather.today", |place: Place| async move { forecast(&place.city).await })
        .build()?;
    let script = toolscript::Script::new(r#"local today = sdk.weather.today({ city = "Oslo" }) return today.degrees"#);
    let run = engine.run(&script, toolscript::RunOptions::default()).await?;
    assert_eq!(run.outcome.decode::<i32>()?, -3);
    Ok(())
}

#[tokio::test]
async fn apis() -> Result<(), Box<dyn Error>> {
    let engine = toolscript::Engine::new()?;
    let shop = toolscript::sdk::ApiOptions::new("examples/shop.yaml").with_read_only(true);
    let sdk = toolscript::sdk::Sdk::builder().api("shop", shop).build().await?;
    let options = toolscript::RunOptions::default().with_functions(sdk);
    let run = engine.run(&toolscript::Script::new("return sdk.search('money')[1].name"), options).await?;
    assert_eq!(run.outcome.decode::<String>()?, "shop.list_transactions");
    Ok(())
}

#[tokio::test]
async fn mcp_server() -> Result<(), Box<dyn Error>> {
    let directory = TempDir::new()?;
    let data = directory.path().join("data");
    let engine = toolscript::Engine::new()?;

    let io = toolscript::engine::IoOptions::new(toolscript::Files::new(&data)?);
    let server = toolscript::mcp::McpServer::builder(engine).io(io).build();
    let routes = server.router(&toolscript::mcp::HttpOptions::default())?;
    let app = axum::Router::new().route("/", axum::routing::get(|| async { "my service" })).merge(routes);

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, app).await });
    for (path, expected) in [("/", "my service"), ("/healthz", "ok")] {
        let response = reqwest::get(format!("http://{address}{path}")).await?;
        assert_eq!(response.text().await?.trim_end(), expected);
    }
    Ok(())
}
