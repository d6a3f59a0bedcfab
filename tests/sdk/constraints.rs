//! Constraints, descriptions and types of arguments in the documentation of functions.

use crate::support::{
    api_server::{directory_with, result, toolscript},
    upstream_server,
};
use serde_json::json;
use tempfile::TempDir;

const SPECIFICATION: &str = r##"
openapi: 3.0.3
info: { title: Zoo, version: '1' }
servers: [{ url: 'https://zoo.example' }]
paths:
  /visits:
    post:
      operationId: bookVisit
      summary: Books a visit
      parameters:
        - { name: party, in: query, description: "Number of\n people", schema: { $ref: '#/components/schemas/Party' } }
        - { name: level, in: query, schema: { type: integer, enum: [1, 2, 3], default: 2 } }
        - { name: order, in: query, schema: { type: string, enum: [asc, desc], default: asc } }
      requestBody:
        description: The visit
        content:
          application/json:
            schema:
              type: object
              required: [day]
              properties:
                day: { type: string, format: date, description: The day of the visit }
                guest: { type: object, properties: { name: { type: string, minLength: 1, maxLength: 40 }, age: { $ref: '#/components/schemas/Age' } } }
                codes: { type: array, maxItems: 3, items: { type: string, pattern: '^[A-Z]{3}$' } }
      responses: { 201: { description: Done, content: { application/json: { schema: { $ref: '#/components/schemas/Visit' } } } } }
    put:
      operationId: changeVisit
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Visit' } } } }
components:
  schemas:
    Party: { type: integer, minimum: 1, maximum: 12, exclusiveMaximum: true, default: 2 }
    Age: { type: integer, minimum: 0, maximum: 150, description: Years }
    Visit:
      type: object
      properties:
        id: { type: string, format: uuid, description: "]] [[ ends\0 nothing --[[" }
        guest: { type: object, description: Who comes, properties: { nick: { type: string, maxLength: 9, nullable: true } } }
        age: { $ref: '#/components/schemas/Age' }
        tags: { type: array, items: { type: string } }
"##;

fn zoo() -> TempDir {
    let directory = directory_with("[apis.zoo]\nspec = \"zoo.yaml\"\n");
    std::fs::write(directory.path().join("zoo.yaml"), SPECIFICATION).expect("the specification is written");
    directory
}

const AGE: &str = "export type ZooAge = number -- Years; 0 to 150";

const VISIT: &str = "export type ZooVisit = {
    age: ZooAge?,
    -- Who comes
    guest: {
        nick: string?, -- at most 9 characters
    }?,
    id: string?, -- ]] [[ ends nothing --[[; format uuid
    tags: { string }?,
}";

#[test]
fn parameters_and_fields_of_an_inline_body_have_their_constraints() {
    let docs = result(&zoo(), "return sdk.docs('book_visit')");
    let expected = format!(
        "sdk.zoo.book_visit(params: {{ party: ZooParty?, level: number?, order: (\"asc\" | \"desc\")? }}?, \
         body: {{ codes: {{ string }}?, day: string, guest: {{ age: ZooAge?, name: string? }}? }}?): ZooVisit
POST /visits

Books a visit

params:
  party (query): Number of people; at least 1, less than 12; default 2
  level (query): one of 1, 2, 3; default 2
  order (query): default \"asc\"

body: application/json: The visit
  codes: at most 3 items; each item: pattern ^[A-Z]{{3}}$
  day: The day of the visit; format date
  guest.name: 1 to 40 characters

{AGE}
export type ZooParty = number -- at least 1, less than 12; default 2
export type ZooVisit = {{ age: ZooAge?, guest: {{ nick: string? }}?, id: string?, tags: {{ string }}? }}"
    );
    assert_eq!(docs.as_str(), Some(expected.as_str()));
}

#[test]
fn fields_of_a_named_body_have_their_constraints_as_comments() {
    let docs = result(&zoo(), "return sdk.docs('change_visit')");
    let expected = format!("sdk.zoo.change_visit(body: ZooVisit?): any\nPUT /visits\n\nbody: application/json\n\n{VISIT}\n{AGE}");
    assert_eq!(docs.as_str(), Some(expected.as_str()));
}

#[test]
fn the_name_of_a_type_returns_its_definition() {
    let docs = result(&zoo(), "return sdk.docs('ZooVisit'), sdk.docs('ZooAge'), select(2, pcall(sdk.docs, 'Nothing'))");
    let unknown = "there is no function 'Nothing'; use sdk.search to find functions";
    assert_eq!(docs, json!([format!("{VISIT}\n\n{AGE}"), AGE, unknown]));
}

#[test]
fn arguments_of_tools_have_their_constraints() {
    let directory = upstream_server::directory("");
    let docs = result(&directory, "return sdk.docs('up.say_it'), sdk.docs('up.add'), sdk.docs('UpAddNumber')");
    let say = "sdk.up.say_it(arguments: { text: string? }?): any\nthe tool sayIt of an MCP server\n\nEchoes a text\n\n\
               arguments:\n  text: The text; at most 1000 characters";
    let number = "export type UpAddNumber = number -- at most 1000";
    let add = format!(
        "sdk.up.add(arguments: {{ a: UpAddNumber, b: UpAddNumber }}): {{ sum: number }}\nthe tool add of an MCP server\n\n\
         Adds two numbers\n\n{number}"
    );
    assert_eq!(docs, json!([say, add, number]));
}

#[test]
fn type_definitions_with_comments_are_valid_luau() {
    let directory = zoo();
    let output = toolscript(directory.path(), &["types", "-o", "-"]).output().expect("toolscript runs");
    let types = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(types.contains(VISIT) && types.contains(AGE), "{types}");
    let start = types.find("export type Zoo").expect("types of the API");
    // Only a definition file can declare globals.
    let script = types[start..].replace("\ndeclare sdk: {", "\ntype FunctionResponse = any\ntype Sdk = {");
    assert_eq!(result(&directory, &format!("{script}\nreturn 7")), 7);
}
