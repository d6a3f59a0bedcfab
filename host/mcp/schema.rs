//! JSON Schemas of tools, generated from the types of their arguments.

use rmcp::model::JsonObject;
use schemars::{
    JsonSchema, Schema,
    generate::{Contract, SchemaSettings},
    transform::{Transform, transform_subschemas},
};
use serde_json::Value;

/// Returns the schema of the arguments of a tool.
pub fn of_input<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with_transform(Simplify).with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
        settings.contract = Contract::Deserialize;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The tool itself has a title and a description.
    schema.remove("title");
    schema.remove("description");
    let Value::Object(mut object) = schema.to_value() else { return JsonObject::default() };
    // Some clients reject a tool whose schema has no `properties`.
    object.entry("properties").or_insert_with(|| Value::Object(JsonObject::default()));
    object
}

/// Removes what a model does not need or a client does not support: `additionalProperties`, integer formats, `null` as a second type, `null` defaults, and the period at the end of a doc
/// comment. Optional properties are not in `required`, and `null` counts as absent.
#[derive(Clone)]
struct Simplify;

impl Transform for Simplify {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        if object.remove("format").is_some() {
            object.remove("minimum");
        }
        // Some clients reject a schema with it. Unknown arguments are rejected in any case.
        object.remove("additionalProperties");
        if object.get("default").is_some_and(Value::is_null) {
            object.remove("default");
        }
        if let Some(Value::String(description)) = object.get_mut("description")
            && description.ends_with('.')
        {
            description.pop();
        }
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|name| name != "null");
            if let [only] = &types[..] {
                let only = only.clone();
                object.insert("type".into(), only);
            }
        }
        if let Some(Value::Array(values)) = object.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::of_input;
    use crate::mcp::arguments::WholeNumber;
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::{Value, json};

    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Input {
        /// Relative path.
        path: String,
        limit: Option<WholeNumber<1>>,
        #[serde(default)]
        all: bool,
        mode: Option<Mode>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct NoInput {}

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Mode {
        Create,
        Append,
    }

    #[test]
    fn schemas_are_plain() {
        let expected = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "Relative path" },
                "limit": { "type": "integer", "minimum": 1 },
                "all": { "type": "boolean", "default": false },
                "mode": { "type": "string", "enum": ["create", "append"] },
            },
            "required": ["path"],
        });
        assert_eq!(Value::Object(of_input::<Input>()), expected);
        let expected = json!({ "type": "object", "properties": {} });
        assert_eq!(Value::Object(of_input::<NoInput>()), expected);
    }
}
