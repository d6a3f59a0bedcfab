//! What an HTTP operation does, and with which resource, by its method and path. For the search.

use super::search_terms::Action;

/// Returns the parts of a path that are not placeholders: all but the last, and the last, which names the resource.
pub fn path_and_resource(path: &str) -> (String, &str) {
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && !part.starts_with('{')).collect();
    let resource = parts.pop().unwrap_or_default();
    (parts.join(" "), resource)
}

/// Returns what an operation does by its method: on a collection, or on one resource if the path ends with a placeholder.
pub fn http_actions(method: &str, path: &str, resource: &str) -> Vec<(Action, f64)> {
    let is_item = path.trim_end_matches('/').ends_with('}');
    let is_plural = resource.ends_with('s');
    match (method, is_item) {
        ("GET" | "HEAD", true) => vec![(Action::Get, 4.0)],
        ("GET" | "HEAD", false) if is_plural => vec![(Action::List, 4.0), (Action::Get, 1.0)],
        ("GET" | "HEAD", false) => vec![(Action::Get, 3.0), (Action::List, 1.0)],
        ("POST", true) => vec![(Action::Update, 3.0), (Action::Create, 1.0)],
        ("POST", false) => vec![(Action::Create, if is_plural { 4.0 } else { 2.0 })],
        ("PUT", _) => vec![(Action::Update, 3.0), (Action::Create, 1.0)],
        ("PATCH", _) => vec![(Action::Update, 4.0)],
        ("DELETE", _) => vec![(Action::Delete, 4.0)],
        _ => Vec::new(),
    }
}
