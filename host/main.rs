
use toolscript::engine::*;
#[tokio::main]
async fn main() {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let engine = Engine::new().unwrap();
    let s = std::env::args().nth(1).unwrap();
    let run = engine.run(&Script::new(s), RunOptions::default()).await.unwrap();
    println!("{}\n{}", serde_json::to_string(&run.outcome).unwrap(), serde_json::to_string(&run.receipt).unwrap());
}
