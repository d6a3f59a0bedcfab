//! The specification of an office suite.

use super::specifications::{Operation, specification};
use serde_json::Value;

/// The entities of the office suite, with their navigation properties.
const OFFICE_ENTITIES: [(&str, &str, &[&str]); 12] = [
    (
        "users",
        "user",
        &[
            "messages",
            "mailFolders",
            "events",
            "calendars",
            "contacts",
            "drives",
            "memberOf",
            "directReports",
            "manager",
            "photos",
            "todoLists",
            "onlineMeetings",
            "licenseDetails",
            "authenticationMethods",
        ],
    ),
    ("groups", "group", &["members", "owners", "conversations", "threads", "events", "drives", "sites", "settings", "acceptedSenders"]),
    ("sites", "site", &["lists", "pages", "drives", "permissions", "columns", "contentTypes"]),
    ("drives", "drive", &["items", "root", "special", "following"]),
    ("teams", "team", &["channels", "members", "installedApps", "operations", "tags", "schedule"]),
    ("chats", "chat", &["messages", "members", "tabs", "pinnedMessages"]),
    ("applications", "application", &["owners", "extensionProperties", "federatedIdentityCredentials"]),
    ("servicePrincipals", "servicePrincipal", &["appRoleAssignments", "owners", "delegatedPermissionClassifications"]),
    ("devices", "device", &["registeredOwners", "registeredUsers", "extensions"]),
    ("domains", "domain", &["domainNameReferences", "verificationDnsRecords"]),
    ("invitations", "invitation", &["invitedUser"]),
    ("subscriptions", "subscription", &[]),
];

/// Returns `mailFolders` as `mail folders`.
fn spaced(name: &str) -> String {
    name.chars().fold(String::new(), |text, letter| {
        if letter.is_uppercase() { text + " " + &letter.to_lowercase().to_string() } else { text + &letter.to_string() }
    })
}

/// Returns the specification of an office suite. Its operations have identifiers such as `users.ListMessages`.
pub fn office() -> Value {
    let mut all = Vec::new();
    let mut add = |method, path: String, id: String, tag: String, summary: String, description: String| {
        let description =
            format!("{description} This API is available in the national cloud deployments for users and groups of a tenant.");
        all.push(Operation { method, path, id, tag, summary, description });
    };
    for (set, entity, properties) in OFFICE_ENTITIES {
        let (many, one) = (spaced(set), spaced(entity));
        let (base, item, tag) = (format!("/{set}"), format!("/{set}/{{{entity}-id}}"), format!("{set}.{entity}"));
        let name = entity[..1].to_uppercase() + &entity[1..];
        let id = |verb: &str| format!("{set}.{entity}.{verb}{name}");
        add("get", base.clone(), id("List"), tag.clone(), format!("List {many}"), format!("Retrieve a list of {one} objects."));
        add("post", base.clone(), id("Create"), tag.clone(), format!("Create {one}"), format!("Create a new {one}."));
        add(
            "get",
            format!("{base}/$count"),
            format!("{set}.GetCount"),
            tag.clone(),
            "Get the number of the resource".into(),
            String::new(),
        );
        add(
            "get",
            item.clone(),
            id("Get"),
            tag.clone(),
            format!("Get {one}"),
            format!("Read properties and relationships of the {one} object."),
        );
        add("patch", item.clone(), id("Update"), tag.clone(), format!("Update {one}"), format!("Update the properties of a {one} object."));
        add("delete", item.clone(), id("Delete"), tag.clone(), format!("Delete {one}"), format!("Delete a {one} object."));
        for property in properties {
            let (words, tag) = (spaced(property), format!("{set}.{property}"));
            let (base, name) = (format!("{item}/{property}"), property[..1].to_uppercase() + &property[1..]);
            let item = format!("{base}/{{{property}-id}}");
            let id = |verb: &str| format!("{set}.{verb}{name}");
            add("get", base.clone(), id("List"), tag.clone(), format!("List {words}"), format!("Get the {words} of the {one}."));
            add(
                "post",
                base.clone(),
                id("Create"),
                tag.clone(),
                format!("Create new navigation property to {property} for {set}"),
                String::new(),
            );
            add(
                "get",
                format!("{base}/$count"),
                format!("{set}.{property}.GetCount"),
                tag.clone(),
                "Get the number of the resource".into(),
                String::new(),
            );
            add(
                "get",
                item.clone(),
                id("Get"),
                tag.clone(),
                format!("Get {property} from {set}"),
                format!("One of the {words} in the {one}."),
            );
            add(
                "patch",
                item.clone(),
                id("Update"),
                tag.clone(),
                format!("Update the navigation property {property} in {set}"),
                String::new(),
            );
            add(
                "delete",
                item.clone(),
                id("Delete"),
                tag.clone(),
                format!("Delete navigation property {property} for {set}"),
                String::new(),
            );
        }
    }
    for (path, id, summary) in [
        ("/users/{user-id}/sendMail", "users.user.sendMail", "Invoke action sendMail"),
        ("/users/{user-id}/messages/{message-id}/reply", "users.user.messages.message.reply", "Invoke action reply"),
        ("/users/{user-id}/messages/{message-id}/forward", "users.user.messages.message.forward", "Invoke action forward"),
        ("/users/{user-id}/events/{event-id}/accept", "users.user.events.event.accept", "Invoke action accept"),
        ("/drives/{drive-id}/items/{driveItem-id}/copy", "drives.drive.items.driveItem.copy", "Invoke action copy"),
        ("/teams/{team-id}/archive", "teams.team.archive", "Invoke action archive"),
    ] {
        let tag = id.split('.').next().unwrap_or_default().to_owned() + ".Actions";
        add("post", path.into(), id.into(), tag, summary.into(), String::new());
    }
    specification("Office", all)
}
