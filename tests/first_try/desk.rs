//! The MCP server of a trial: a help desk whose tools return each kind of content.

use super::{
    api::Shared,
    data::{CHART, DOCUMENT},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult, PaginatedRequestParams,
        ResourceContents, ServerCapabilities, ServerConfig, Tool, object,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use std::sync::Arc;

#[derive(Clone)]
pub struct Desk(pub Shared);

fn tool(name: &'static str, description: &'static str, properties: Value, required: &[&str]) -> Tool {
    Tool::new(name, description, object(json!({ "type": "object", "properties": properties, "required": required })))
}

fn with_output(tool: Tool, properties: Value) -> Tool {
    let required: Vec<String> = properties.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect();
    tool.with_raw_output_schema(Arc::new(object(json!({ "type": "object", "properties": properties, "required": required }))))
}

/// The tools, as the server lists them.
pub fn tools() -> Vec<Tool> {
    let status = json!({ "type": "string", "enum": ["open", "pending", "closed"] });
    let priority = json!({ "type": "string", "enum": ["low", "medium", "high"] });
    let id = json!({ "ticket_id": { "type": "integer" } });
    let ticket = json!({
        "id": { "type": "integer" }, "title": { "type": "string" }, "status": status, "priority": priority,
        "assignee": { "type": ["string", "null"] }, "customer_id": { "type": "integer" }, "hours": { "type": "number" },
    });
    vec![
        with_output(
            tool("list_tickets", "Lists tickets", json!({ "status": status }), &[]),
            json!({ "result": { "type": "array", "items": { "type": "object", "properties": ticket } } }),
        ),
        with_output(tool("count_tickets", "Counts tickets", json!({ "status": status }), &[]), json!({ "result": { "type": "integer" } })),
        with_output(tool("get_ticket", "Returns a ticket", id.clone(), &["ticket_id"]), ticket),
        with_output(
            tool("create_ticket", "Creates a ticket", json!({ "title": { "type": "string" }, "priority": priority }), &["title"]),
            json!({ "id": { "type": "integer" }, "title": { "type": "string" } }),
        ),
        tool("close_ticket", "Closes a ticket", id, &["ticket_id"]),
        tool("search_notes", "Returns matching notes as a JSON text", json!({ "query": { "type": "string" } }), &["query"]),
        with_output(
            tool("get_forecast", "Returns the weather forecast", json!({ "city": { "type": "string" } }), &["city"]),
            json!({ "city": { "type": "string" }, "days": { "type": "array" } }),
        ),
        tool(
            "render_chart",
            "Renders a bar chart as a PNG image",
            json!({ "title": { "type": "string" }, "values": { "type": "array" } }),
            &["values"],
        ),
        tool("get_attachment", "Returns an attached document", json!({ "name": { "type": "string" } }), &["name"]),
        tool(
            "get_history",
            "Returns the history of a ticket, one text per event",
            json!({ "ticket_id": { "type": "integer" } }),
            &["ticket_id"],
        ),
        tool("greet", "Returns a greeting", json!({ "name": { "type": "string" } }), &["name"]),
    ]
}

/// The forecast for a city.
pub fn forecast(city: &str) -> Value {
    json!({ "city": city, "days": [{ "day": "Mon", "high": 12.5, "rain": null }, { "day": "Tue", "high": 9, "rain": 3.5 }, { "day": "Wed", "high": 14, "rain": null }] })
}

/// The events of a ticket.
pub fn history(id: u64) -> [String; 3] {
    [format!("2026-01-05 ticket {id} created"), format!("2026-01-06 ticket {id} assigned"), format!("2026-01-09 ticket {id} commented")]
}

impl Desk {
    fn call(&self, name: &str, arguments: &Value) -> Result<CallToolResult, ErrorData> {
        let text = |text: String| CallToolResult::success(vec![ContentBlock::text(text)]);
        let fail = |text: String| CallToolResult::error(vec![ContentBlock::text(text)]);
        let mut store = self.0.lock().expect("a lock");
        let wanted = |ticket: &&Value| arguments["status"].is_null() || ticket["status"] == arguments["status"];
        let id = arguments["ticket_id"].as_u64().unwrap_or_default();
        Ok(match name {
            "list_tickets" => CallToolResult::structured(json!({ "result": store.tickets.iter().filter(wanted).collect::<Vec<_>>() })),
            "count_tickets" => CallToolResult::structured(json!({ "result": store.tickets.iter().filter(wanted).count() })),
            "get_ticket" => match store.tickets.iter().find(|ticket| ticket["id"] == id) {
                Some(ticket) => CallToolResult::structured(ticket.clone()),
                None => fail(format!("Ticket {id} not found")),
            },
            "create_ticket" => {
                let ticket = json!({
                    "id": store.tickets.len() + 1, "title": arguments["title"], "status": "open", "priority": arguments["priority"],
                    "assignee": null, "customer_id": 1, "hours": 0,
                });
                store.tickets.push(ticket.clone());
                CallToolResult::structured(json!({ "id": ticket["id"], "title": ticket["title"] }))
            }
            "close_ticket" => match store.tickets.iter_mut().find(|ticket| ticket["id"] == id) {
                Some(ticket) if ticket["status"] != "closed" => {
                    ticket["status"] = json!("closed");
                    text(format!("Ticket {id} closed"))
                }
                Some(_) => fail(format!("Ticket {id} is already closed")),
                None => fail(format!("Ticket {id} not found")),
            },
            "search_notes" => {
                let query = arguments["query"].as_str().unwrap_or_default().to_lowercase();
                let found: Vec<&Value> = store.notes.iter().filter(|note| note.to_string().to_lowercase().contains(&query)).collect();
                text(json!(found).to_string())
            }
            "get_forecast" => text(forecast(arguments["city"].as_str().unwrap_or_default()).to_string()),
            "render_chart" => CallToolResult::success(vec![ContentBlock::image(STANDARD.encode(CHART), "image/png")]),
            "get_attachment" => {
                let uri = format!("desk://attachments/{}", arguments["name"].as_str().unwrap_or_default());
                let contents = ResourceContents::blob(STANDARD.encode(DOCUMENT), uri).with_mime_type("application/pdf");
                CallToolResult::success(vec![ContentBlock::resource(contents)])
            }
            "get_history" => CallToolResult::success(history(id).map(ContentBlock::text).to_vec()),
            "greet" => text(format!("Hello, {}!", arguments["name"].as_str().unwrap_or_default())),
            _ => return Err(ErrorData::invalid_params("there is no such tool", None)),
        })
    }
}

impl ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("desk", "1").with_title("Help desk"))
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(&self, request: CallToolRequestParams, _: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        self.call(&request.name, &Value::Object(request.arguments.unwrap_or_default())).map(Into::into)
    }
}
