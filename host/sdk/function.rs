//! A function of scripts that leads out.

use super::{
    docs,
    openapi::{Api, Operation},
    upstream::{RemoteTool, Upstream},
};
use std::sync::Arc;

/// A function, and where it leads.
pub struct Function {
    /// The API's or server's name.
    pub source: String,
    /// Its name there.
    pub name: String,
    /// What it does, in a line.
    pub summary: String,
    pub target: Target,
}

pub enum Target {
    Operation(Arc<Api>, Arc<Operation>),
    Tool(Arc<Upstream>, Arc<RemoteTool>),
}

impl Function {
    /// The function of an operation.
    pub fn of_operation(api: &Arc<Api>, operation: &Arc<Operation>) -> Self {
        let address = format!("{} {}", operation.method, operation.path);
        Self {
            source: api.name.clone(),
            name: operation.name.clone(),
            summary: docs::summary(&[&operation.summary, &operation.description, &address]),
            target: Target::Operation(Arc::clone(api), Arc::clone(operation)),
        }
    }

    /// The function of another server's tool.
    pub fn of_tool(server: &Arc<Upstream>, tool: &Arc<RemoteTool>) -> Self {
        Self {
            source: server.name.clone(),
            name: tool.name.clone(),
            summary: docs::summary(&[&tool.title, &tool.description]),
            target: Target::Tool(Arc::clone(server), Arc::clone(tool)),
        }
    }

    /// The name that scripts can always call it by, without `sdk.`.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.source, self.name)
    }

    /// Topics that the API sorts it under.
    pub fn tags(&self) -> &[String] {
        match &self.target {
            Target::Operation(_, operation) => &operation.tags,
            Target::Tool(..) => &[],
        }
    }

    /// Texts that tell what it is about, and how much each says.
    pub fn texts(&self) -> Vec<(String, f64)> {
        let mut texts = vec![(self.full_name(), 8.0), (self.tags().join(" "), 4.0), (self.summary.clone(), 4.0)];
        match &self.target {
            Target::Operation(_, operation) => {
                let parameters: Vec<&str> = operation.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
                texts.extend([(operation.path.clone(), 2.0), (parameters.join(" "), 2.0), (operation.description.clone(), 1.0)]);
            }
            Target::Tool(_, tool) => texts.push((tool.description.clone(), 1.0)),
        }
        texts
    }
}
