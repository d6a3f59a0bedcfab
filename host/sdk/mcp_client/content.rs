//! Converts content blocks of a tool result to values of a script.

use crate::functions::Attachment;
use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use rmcp::model::{ContentBlock, ResourceContents};
use serde_json::{Value, json};

/// Accepts data with and without padding.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent));

/// Values with bytes in them. The locations of the bytes are relative to one array of all values.
#[derive(Default)]
pub struct Blocks {
    pub values: Vec<Value>,
    pub attachments: Vec<Attachment>,
}

impl Blocks {
    /// Converts the blocks: a text to a string, an image, a recording or a file to a table with its bytes as `data`.
    pub fn convert(content: &[ContentBlock]) -> Result<Self, String> {
        let mut blocks = Self::default();
        for block in content {
            let value = blocks.value_of(block)?;
            blocks.values.push(value);
        }
        Ok(blocks)
    }

    fn value_of(&mut self, block: &ContentBlock) -> Result<Value, String> {
        Ok(match block {
            ContentBlock::Text(text) => Value::String(text.text.clone()),
            ContentBlock::Image(image) => {
                self.attach(&image.data)?;
                json!({ "type": "image", "mime_type": image.mime_type, "data": "" })
            }
            ContentBlock::Audio(audio) => {
                self.attach(&audio.data)?;
                json!({ "type": "audio", "mime_type": audio.mime_type, "data": "" })
            }
            ContentBlock::Resource(embedded) => match &embedded.resource {
                ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                    json!({ "type": "resource", "uri": uri, "mime_type": mime_type, "text": text })
                }
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    self.attach(blob)?;
                    json!({ "type": "resource", "uri": uri, "mime_type": mime_type, "data": "" })
                }
                _ => other_block(block)?,
            },
            _ => other_block(block)?,
        })
    }

    /// Decodes the field `data` of the next value.
    fn attach(&mut self, data: &str) -> Result<(), String> {
        let bytes = BASE64.decode(data).map_err(|error| format!("the server sent data that is not base64: {error}"))?;
        self.attachments.push(Attachment { pointer: format!("/{}/data", self.values.len()), bytes });
        Ok(())
    }

    /// Returns the only value, null if there is none, or an array of several.
    pub fn into_value(mut self) -> (Value, Vec<Attachment>) {
        match <[Value; 1]>::try_from(self.values) {
            Ok([only]) => {
                for attachment in &mut self.attachments {
                    // `/0/data` becomes `/data`.
                    attachment.pointer.drain(.."/0".len());
                }
                (only, self.attachments)
            }
            Err(values) if values.is_empty() => (Value::Null, Vec::new()),
            Err(values) => (Value::Array(values), self.attachments),
        }
    }

    /// Returns an object whose field `content` is the array of all values.
    pub fn into_content(mut self) -> (Value, Vec<Attachment>) {
        for attachment in &mut self.attachments {
            attachment.pointer.insert_str(0, "/content");
        }
        (json!({ "content": self.values }), self.attachments)
    }
}

/// Converts a block that contains no bytes, such as a link to a resource.
fn other_block(block: &ContentBlock) -> Result<Value, String> {
    let mut value = serde_json::to_value(block).map_err(|error| format!("the result can't be encoded as JSON: {error}"))?;
    if let Value::Object(fields) = &mut value
        && let Some(mime_type) = fields.remove("mimeType")
    {
        fields.insert("mime_type".into(), mime_type);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::Blocks;
    use crate::functions::Attachment;
    use rmcp::model::{ContentBlock, Resource, ResourceContents};
    use serde_json::json;

    fn attachment(pointer: &str, bytes: &[u8]) -> Attachment {
        Attachment { pointer: pointer.into(), bytes: bytes.into() }
    }

    #[test]
    fn one_block_is_the_value_itself() {
        let convert = |block: ContentBlock| Blocks::convert(&[block]).unwrap().into_value();
        assert_eq!(convert(ContentBlock::text("a")), (json!("a"), vec![]));
        let image = json!({ "type": "image", "mime_type": "image/png", "data": "" });
        // With and without padding.
        for data in ["/w==", "/w"] {
            assert_eq!(convert(ContentBlock::image(data, "image/png")), (image.clone(), vec![attachment("/data", &[0xff])]));
        }
        assert_eq!(Blocks::convert(&[]).unwrap().into_value(), (json!(null), vec![]));
    }

    #[test]
    fn several_blocks_are_a_list_with_bytes_in_it() {
        let blob = ResourceContents::blob("/g==", "file:///a").with_mime_type("application/pdf");
        let text = ResourceContents::text("t", "file:///b");
        let link = Resource::new("https://example.com/c", "c").with_mime_type("text/html");
        let content = [
            ContentBlock::text("one"),
            ContentBlock::audio("/f8=", "audio/wav"),
            ContentBlock::resource(blob),
            ContentBlock::resource(text),
            ContentBlock::resource_link(link),
        ];
        let values = json!([
            "one",
            { "type": "audio", "mime_type": "audio/wav", "data": "" },
            { "type": "resource", "uri": "file:///a", "mime_type": "application/pdf", "data": "" },
            { "type": "resource", "uri": "file:///b", "mime_type": "text/plain", "text": "t" },
            { "type": "resource_link", "uri": "https://example.com/c", "name": "c", "mime_type": "text/html" },
        ]);
        let bytes = [attachment("/1/data", &[0xfd, 0xff]), attachment("/2/data", &[0xfe])];
        assert_eq!(Blocks::convert(&content).unwrap().into_value(), (values.clone(), bytes.to_vec()));
        let bytes = [attachment("/content/1/data", &[0xfd, 0xff]), attachment("/content/2/data", &[0xfe])];
        assert_eq!(Blocks::convert(&content).unwrap().into_content(), (json!({ "content": values }), bytes.to_vec()));
    }

    #[test]
    fn data_that_is_not_base64_is_an_error() {
        let error = Blocks::convert(&[ContentBlock::image("!", "image/png")]).err().unwrap();
        assert!(error.starts_with("the server sent data that is not base64: "), "{error}");
    }
}
