//! Mistakes that a model makes, in scripts that work.

use super::{api, check};
use crate::first_try;
use std::collections::BTreeMap;

/// A mistake, and how a correct piece of code becomes one. The second text replaces the first.
const REPLACEMENTS: [(&str, &str, &str); 41] = [
    ("function", "sdk.store.list_orders(", "sdk.store.list_order(s"),
    ("function", "sdk.store.list_orders(", "sdk.store.listorders_all("),
    ("function", "sdk.store.get_order(", "sdk.store.get_ordr("),
    ("function", "sdk.store.list_products(", "sdk.store.list_prodcuts("),
    ("function", "sdk.store.get_customer(", "sdk.store.getcustomers("),
    ("function", "sdk.store.list_customers(", "sdk.store.list_custmers("),
    ("function", "sdk.store.", "sdk.stroe."),
    ("parameter", "({ order_id =", "({ orderid ="),
    ("parameter", ", { order_id =", ", { order ="),
    ("parameter", "({ customer_id =", "({ customer ="),
    ("parameter", ", { customer_id =", ", { customerid ="),
    ("parameter", "({ limit =", "({ limits ="),
    ("parameter", "({ cursor =", "({ cursr ="),
    ("parameter", "cursor = cursor", "cursors = cursor"),
    ("parameter", "({ status =", "({ state ="),
    ("parameter", "({ page =", "({ pge ="),
    ("parameter", "({ sku =", "({ sku_id ="),
    ("enumeration", "status = \"paid\"", "status = \"payed\""),
    ("enumeration", "status = \"pending\"", "status = \"open\""),
    ("enumeration", "status = \"shipped\"", "status = \"shiped\""),
    ("enumeration", "status = \"cancelled\"", "status = \"canceled\""),
    ("literal", "limit = 25", "limit = \"all\""),
    ("literal", "limit = 2 }", "limit = true }"),
    ("literal", "({ limit = 1", "({ limit = {}, page = 1"),
    ("literal", "({ order_id = order.id })", "({ order_id = true })"),
    ("literal", "({ order_id = o.id })", "({ order_id = \"first\" })"),
    ("literal", "({ customer_id = id })", "({ customer_id = false })"),
    ("literal", "({ sku = sku })", "({ sku = 7 })"),
    ("literal", "({ symbol = symbol })", "({ symbol = 7 })"),
    ("missing", "get_order({ order_id =", "get_order({ [1 + 1] = nil, x ="),
    ("missing", "sdk.store.get_customer(", "sdk.store.get_customer(); print("),
    ("missing", "sdk.store.get_order(", "sdk.store.get_order({}); print("),
    ("missing", "sdk.store.get_product(", "sdk.store.get_product({}); print("),
    ("arity", "sdk.store.list_orders(", "sdk.store.list_orders({}, { a = 1 }, "),
    ("arity", "sdk.store.list_products(", "sdk.store.list_products({}, { a = 1 }, "),
    ("arity", "sdk.store.get_order(", "sdk.store.get_order(\"first\", "),
    ("global", "print(", "prnt("),
    ("global", "ipairs(", "ipair("),
    ("member", "table.insert(", "table.inset("),
    ("member", "string.format(", "string.fromat("),
    ("member", "math.max(", "math.maximum("),
];

/// Fields of results, in scripts whose responses have all their fields in the schema.
const FIELDS: [(&str, &str); 5] =
    [("id", "idd"), ("status", "staus"), ("total", "totl"), ("address.city", "address.town"), ("address", "adress")];

/// Uses of a field.
const USES: [&str; 8] = [
    "local o = sdk.closed.get_order{ order_id = 1 } return o.FIELD",
    "local o = sdk.closed.get_order({ order_id = 2 })\nprint('value', o.FIELD)\nreturn #tostring(o.FIELD)",
    "local list = {}\nfor _, o in sdk.closed.list_orders() do list[#list + 1] = o.FIELD end\nreturn list",
    "local seen = {}\nfor i, o in ipairs(sdk.closed.list_orders{ status = 'paid' }) do\n    seen[i] = { value = o.FIELD }\nend\nreturn seen",
    "local orders = sdk.closed.list_orders()\ntable.sort(orders, function(a, b) return tostring(a.FIELD) < tostring(b.FIELD) end)\nreturn orders[1]",
    "local made = sdk.closed.create_order{ customer = 'a', items = { { sku = 'x' } } }\nreturn json.encode({ made.FIELD })",
    "local closed = sdk.closed\nlocal get = closed.get_order\nlocal o = get{ order_id = 3 }\nreturn `value: {o.FIELD}`",
    "local function load(id) return sdk.closed.get_order{ order_id = id } end\nlocal o = sdk.closed.get_order{ order_id = 1 }\nif o then return { o.FIELD, load(2) } end",
];

#[tokio::test]
async fn mistakes_in_working_scripts_are_found_before_the_run() {
    let store = api("store", "tests/first_try/store.yaml").await;
    let closed = api("closed", "tests/check/closed.yaml").await;
    let scripts = first_try::working_scripts();
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut missed = Vec::new();
    let mut count = |kind: &'static str, script: String, found: bool| {
        let (all, right) = counts.entry(kind).or_default();
        *all += 1;
        *right += usize::from(found);
        if !found {
            missed.push(format!("{kind}:\n{script}"));
        }
    };
    for (kind, right, wrong) in REPLACEMENTS {
        // Each mistake is made in the first scripts that have the code.
        for (name, script) in scripts.iter().filter(|(_, script)| script.contains(right) && !script.contains("sdk.desk")).take(12) {
            let mutated = script.replacen(right, wrong, 1);
            // A mistake that is no valid Luau is found by the compiler.
            let found = match check(&mutated, Some(&store)).await {
                Ok(mistakes) => mistakes.iter().any(|mistake| mistake.is_error()),
                Err(_) => continue,
            };
            count(kind, format!("{name}: {right} → {wrong}"), found);
        }
    }
    for (right, wrong) in FIELDS {
        for script in USES {
            let works = script.replace("FIELD", right);
            assert_eq!(check(&works, Some(&closed)).await, Ok(Vec::new()), "{works}");
            let mutated = script.replace("FIELD", wrong);
            let found = check(&mutated, Some(&closed)).await.expect("it is checked").iter().any(|mistake| mistake.is_error());
            count("field", mutated, found);
        }
    }
    let (all, right) = counts.values().fold((0, 0), |(all, right), (more, found)| (all + more, right + found));
    eprintln!("{right} of {all} mistakes were found: {counts:?}");
    assert!(all >= 200, "{all} mistakes");
    assert!(right * 100 >= all * 95, "{right} of {all} mistakes were found; missed:\n{}", missed.join("\n"));
}
