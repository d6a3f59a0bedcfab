//! The size of a response: approximately in memory, without serializing it, and exactly as JSON.

use rmcp::model::{CallToolResult, ContentBlock, JsonRpcMessage, ReadResourceResult, ResourceContents, ServerJsonRpcMessage, ServerResult};
use serde::Serialize;
use serde_json::Value;
use std::{io, mem};

/// Returns the approximate size of a message in bytes. Stops when it is larger than `max`, because counting takes long.
pub fn of(message: &ServerJsonRpcMessage, max: usize) -> usize {
    let JsonRpcMessage::Response(response) = message else { return serialized(message) };
    match &response.result {
        // The only result without a constant limit on its size.
        ServerResult::CallToolResult(result) => of_tool_result(result, max),
        _ => serialized(message),
    }
}

/// Returns the approximate size of the result of a tool in bytes. Stops when it is larger than `max`.
pub fn of_tool_result(result: &CallToolResult, max: usize) -> usize {
    let mut size = result.content.iter().map(of_block).sum();
    if let Some(structure) = &result.structured_content {
        add_value(structure, &mut size, max);
    }
    size
}

/// Returns the approximate size of the contents of a resource in bytes.
pub fn of_resource(result: &ReadResourceResult) -> usize {
    let size = |contents: &ResourceContents| match contents {
        ResourceContents::TextResourceContents { text, .. } => text.len(),
        ResourceContents::BlobResourceContents { blob, .. } => blob.len(),
        _ => 0,
    };
    result.contents.iter().map(size).sum()
}

fn of_block(block: &ContentBlock) -> usize {
    match (block.as_text(), block.as_image()) {
        (Some(text), _) => mem::size_of_val(block) + text.text.len(),
        (_, Some(image)) => mem::size_of_val(block) + image.data.len(),
        _ => serialized(block),
    }
}

/// The nesting is bounded, because the depth of a result is.
fn add_value(value: &Value, size: &mut usize, max: usize) {
    *size += mem::size_of::<Value>();
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => *size += text.len(),
        Value::Array(items) => {
            for item in items {
                if *size > max {
                    return;
                }
                add_value(item, size, max);
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                if *size > max {
                    return;
                }
                *size += mem::size_of::<String>() + key.len();
                add_value(value, size, max);
            }
        }
    }
}

/// Returns the size of a value as JSON.
pub fn serialized(value: &impl Serialize) -> usize {
    struct Counter(usize);

    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut counter = Counter(0);
    // Counting can't fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

#[cfg(test)]
mod tests {
    use super::of;
    use rmcp::model::{CallToolResult, ContentBlock, RequestId, ServerJsonRpcMessage, ServerResult};
    use serde_json::{Value, json};

    fn size(content: Vec<ContentBlock>, structure: Value) -> usize {
        let mut result = CallToolResult::success(content);
        result.structured_content = Some(structure);
        of(&ServerJsonRpcMessage::response(ServerResult::CallToolResult(result), RequestId::Number(1)), 100_000)
    }

    #[test]
    fn texts_images_and_nodes_count() {
        let empty = size(Vec::new(), Value::Null);
        assert!(empty < 1000, "{empty}");
        assert!((10_000..11_000).contains(&size(vec![ContentBlock::text("x".repeat(10_000))], Value::Null)));
        assert!((10_000..11_000).contains(&size(vec![ContentBlock::image("x".repeat(10_000), "image/png")], Value::Null)));
        assert!((10_000..11_000).contains(&size(Vec::new(), json!({ "a": ["x".repeat(10_000)] }))));
        // A small number needs as much memory as any other value.
        assert!(size(Vec::new(), json!(vec![1; 1000])) > 16_000);
        // Counting stops shortly after the maximum.
        assert!((100_000..101_000).contains(&size(Vec::new(), json!(vec![json!({ "a": [1] }); 1_000_000]))));
    }
}
