//! The specification of a code host.

use super::specifications::{Operation, article, plural, singular, specification};
use serde_json::Value;

/// The resources of a repository: the tag, the path and the words for them.
const REPOSITORY_PARTS: [(&str, &str, &str); 38] = [
    ("issues", "issues", "issues"),
    ("pulls", "pulls", "pull requests"),
    ("repos", "branches", "branches"),
    ("repos", "commits", "commits"),
    ("repos", "releases", "releases"),
    ("issues", "labels", "labels"),
    ("issues", "milestones", "milestones"),
    ("repos", "hooks", "repository webhooks"),
    ("repos", "keys", "deploy keys"),
    ("repos", "deployments", "deployments"),
    ("repos", "environments", "environments"),
    ("actions", "actions/workflows", "repository workflows"),
    ("actions", "actions/runs", "workflow runs"),
    ("actions", "actions/artifacts", "artifacts"),
    ("actions", "actions/secrets", "repository secrets"),
    ("actions", "actions/variables", "repository variables"),
    ("actions", "actions/caches", "caches"),
    ("actions", "actions/runners", "self-hosted runners"),
    ("repos", "collaborators", "repository collaborators"),
    ("repos", "forks", "forks"),
    ("activity", "stargazers", "stargazers"),
    ("repos", "tags", "repository tags"),
    ("git", "git/refs", "references"),
    ("git", "git/trees", "trees"),
    ("git", "git/blobs", "blobs"),
    ("repos", "statuses", "commit statuses"),
    ("checks", "check-runs", "check runs"),
    ("checks", "check-suites", "check suites"),
    ("repos", "comments", "commit comments"),
    ("repos", "invitations", "repository invitations"),
    ("repos", "pages/builds", "pages builds"),
    ("repos", "teams", "repository teams"),
    ("repos", "contributors", "repository contributors"),
    ("repos", "traffic/views", "page views"),
    ("code-scanning", "code-scanning/alerts", "code scanning alerts"),
    ("dependabot", "dependabot/alerts", "dependency alerts"),
    ("repos", "rulesets", "repository rulesets"),
    ("repos", "autolinks", "repository autolinks"),
];

/// The resources inside of others.
const NESTED_PARTS: [(&str, &str, &str); 14] = [
    ("issues", "issues/{issue_number}/comments", "issue comments"),
    ("issues", "issues/{issue_number}/labels", "labels of an issue"),
    ("issues", "issues/{issue_number}/assignees", "assignees of an issue"),
    ("reactions", "issues/{issue_number}/reactions", "reactions for an issue"),
    ("issues", "issues/{issue_number}/events", "issue events"),
    ("pulls", "pulls/{pull_number}/files", "pull request files"),
    ("pulls", "pulls/{pull_number}/commits", "commits of a pull request"),
    ("pulls", "pulls/{pull_number}/reviews", "reviews of a pull request"),
    ("pulls", "pulls/{pull_number}/comments", "review comments of a pull request"),
    ("repos", "branches/{branch}/protection", "branch protections"),
    ("repos", "releases/{release_id}/assets", "release assets"),
    ("repos", "deployments/{deployment_id}/statuses", "deployment statuses"),
    ("actions", "actions/runs/{run_id}/jobs", "jobs for a workflow run"),
    ("actions", "actions/runs/{run_id}/logs", "workflow run logs"),
];

/// Returns the specification of a code host. Its operations have identifiers such as `issues/list-for-repo`.
pub fn code_host() -> Value {
    let mut all = Vec::new();
    let mut add = |method, path: String, id: String, summary: String| {
        let tag = id.split('/').next().unwrap_or_default().to_owned();
        let details = if id == "repos/get-content" { "Gets the contents of a file or directory" } else { &summary };
        let description = format!(
            "{details}. The repository must be accessible to the user. Access tokens need the scope of the repository, \
             and an organization can restrict who may use this endpoint. See the guide about repositories and issues."
        );
        all.push(Operation { method, path, id, tag, summary, description });
    };
    for (method, path, id, summary) in [
        ("get", "/repos/{owner}/{repo}", "repos/get", "Get a repository"),
        ("patch", "/repos/{owner}/{repo}", "repos/update", "Update a repository"),
        ("delete", "/repos/{owner}/{repo}", "repos/delete", "Delete a repository"),
        ("post", "/user/repos", "repos/create-for-authenticated-user", "Create a repository for the authenticated user"),
        ("get", "/user/repos", "repos/list-for-authenticated-user", "List repositories for the authenticated user"),
        ("get", "/users/{username}/repos", "repos/list-for-user", "List repositories for a user"),
        ("get", "/orgs/{org}/repos", "repos/list-for-org", "List organization repositories"),
        ("post", "/orgs/{org}/repos", "repos/create-in-org", "Create an organization repository"),
        ("get", "/repos/{owner}/{repo}/contents/{path}", "repos/get-content", "Get repository content"),
        ("put", "/repos/{owner}/{repo}/contents/{path}", "repos/create-or-update-file-contents", "Create or update file contents"),
        ("delete", "/repos/{owner}/{repo}/contents/{path}", "repos/delete-file", "Delete a file"),
        ("get", "/repos/{owner}/{repo}/readme", "repos/get-readme", "Get a repository README"),
        ("get", "/repos/{owner}/{repo}/topics", "repos/get-all-topics", "Get all repository topics"),
        ("put", "/repos/{owner}/{repo}/pulls/{pull_number}/merge", "pulls/merge", "Merge a pull request"),
        ("put", "/repos/{owner}/{repo}/issues/{issue_number}/lock", "issues/lock", "Lock an issue"),
        ("post", "/repos/{owner}/{repo}/merges", "repos/merge", "Merge a branch"),
        ("get", "/user", "users/get-authenticated", "Get the authenticated user"),
        ("get", "/users/{username}", "users/get-by-username", "Get a user"),
        ("get", "/users", "users/list", "List users"),
        ("get", "/user/followers", "users/list-followers-for-authenticated-user", "List followers of the authenticated user"),
        (
            "put",
            "/user/starred/{owner}/{repo}",
            "activity/star-repo-for-authenticated-user",
            "Star a repository for the authenticated user",
        ),
        ("get", "/orgs/{org}", "orgs/get", "Get an organization"),
        ("get", "/orgs/{org}/members", "orgs/list-members", "List organization members"),
        ("get", "/search/issues", "search/issues-and-pull-requests", "Search issues and pull requests"),
        ("get", "/search/code", "search/code", "Search code"),
        ("get", "/search/repositories", "search/repos", "Search repositories"),
        ("get", "/gists", "gists/list", "List gists for the authenticated user"),
        ("post", "/gists", "gists/create", "Create a gist"),
        ("get", "/rate_limit", "rate-limit/get", "Get rate limit status for the authenticated user"),
        (
            "post",
            "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches",
            "actions/create-workflow-dispatch",
            "Create a workflow dispatch event",
        ),
        ("post", "/repos/{owner}/{repo}/actions/runs/{run_id}/rerun", "actions/re-run-workflow", "Re-run a workflow"),
        ("post", "/repos/{owner}/{repo}/actions/runs/{run_id}/cancel", "actions/cancel-workflow-run", "Cancel a workflow run"),
    ] {
        add(method, path.into(), id.into(), summary.into());
    }
    for (tag, path, words) in REPOSITORY_PARTS.iter().chain(&NESTED_PARTS) {
        let one = singular(words);
        let (base, name) = (format!("/repos/{{owner}}/{{repo}}/{path}"), one.replace(' ', "-"));
        let item = format!("{base}/{{{}_id}}", name.replace('-', "_"));
        let is_main = plural(path) == *tag;
        let id = |verb: &str| if is_main { format!("{tag}/{verb}") } else { format!("{tag}/{verb}-{name}") };
        let list = if is_main { format!("{tag}/list-for-repo") } else { format!("{tag}/list-{}", words.replace(' ', "-")) };
        let article = article(&one);
        add("get", base.clone(), list, if is_main && *tag == "issues" { "List repository issues".into() } else { format!("List {words}") });
        add("post", base.clone(), id("create"), format!("Create {article} {one}"));
        add("get", item.clone(), id("get"), format!("Get {article} {one}"));
        add("patch", item.clone(), id("update"), format!("Update {article} {one}"));
        add("delete", item, id("delete"), format!("Delete {article} {one}"));
    }
    specification("Code host", all)
}
