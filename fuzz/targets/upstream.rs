//! Messages of an upstream MCP server: its tool list, and results of calls. Credentials never reach a script.

use crate::{input::Input, runtime::block_on};
use std::time::Duration;
use tokio::{io::AsyncWriteExt as _, time::timeout};
use toolscript::{
    RawValue,
    functions::{FunctionProvider as _, FunctionValue},
    fuzzing,
};

/// The credential of the server.
const SECRET: &str = "a-secret-credential";

/// Messages beyond this size are too large.
const MAX_MESSAGE: usize = 1024;

pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let chunk = usize::from(input.u8()) + 1;
    let messages = input.rest().to_vec();
    block_on(async {
        let ended = timeout(Duration::from_secs(20), talk(messages, chunk)).await;
        ended.expect("the connection ends with the messages of the server");
    });
}

async fn talk(messages: Vec<u8>, chunk: usize) {
    let (client_input, mut server_output) = tokio::io::duplex(chunk);
    let writing = async move {
        let _ = server_output.write_all(&messages).await;
    };
    let calling = async {
        let Ok(sdk) = fuzzing::connect(SECRET, MAX_MESSAGE, client_input, tokio::io::sink()).await else { return };
        let _ = (sdk.overview(None), sdk.search("anything"));
        for name in sdk.names().into_iter().take(4) {
            let _ = sdk.docs(&name);
            let argument = RawValue::from_string(r#"{"text":"x","count":3}"#.into()).expect("JSON");
            match fuzzing::call(&sdk, &name, vec![argument.into()]).await {
                Ok(response) => check(&response.body),
                Err(error) => {
                    assert!(!error.message.contains(SECRET), "{}", error.message);
                    error.body.iter().for_each(|body| check(body));
                }
            }
        }
    };
    tokio::join!(writing, calling);
}

fn check(value: &FunctionValue) {
    match value {
        FunctionValue::Json(json) => {
            assert!(!json.text.get().contains(SECRET), "{}", json.text);
            let value: serde_json::Value = serde_json::from_str(json.text.get()).unwrap_or_default();
            for attachment in &json.attachments {
                let place = value.pointer(&attachment.pointer);
                assert!(value.is_null() || place.is_some_and(|place| place == ""), "{} {}", json.text, attachment.pointer);
            }
        }
        FunctionValue::Bytes(bytes) => assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())),
    }
}
