//! Tasks whose scripts can't work. The error tells the model what to write instead.

use crate::first_try::expected::{Expected, error};

/// The message of a run that made too many calls.
const TOO_MANY_CALLS: &str = "1,000 function calls were made, the limit; if this is a loop over pages, check that the cursor ends";

pub fn all() -> Vec<(&'static str, Expected)> {
    let syntax = |texts: &[&'static str]| error("syntax", texts);
    let check = |texts: &[&'static str]| error("check", texts);
    let runtime = |texts: &[&'static str]| error("runtime", texts);
    vec![
        ("goto_continue", syntax(&["script:5: ", "goto", "continue"])),
        ("bit_operators", syntax(&["script:3: ", "bit32"])),
        ("bit_shift_left", syntax(&["script:2: ", "bit32"])),
        ("bit_or", syntax(&["script:2: ", "bit32"])),
        ("bit_xor", syntax(&["script:4: ", "bit32"])),
        ("not_equal", syntax(&["script:4: ", "~="])),
        ("increment", syntax(&["+= 1"])),
        ("const_attribute", syntax(&["script:2: ", "<const>"])),
        ("close_attribute", syntax(&["script:2: ", "<close>"])),
        ("getenv", check(&["script:2:", "getenv", "environment"])),
        ("tointeger", check(&["script:4:", "'tointeger'", "math.floor"])),
        ("math_type", check(&["script:4:", "'type'"])),
        ("require_json", runtime(&["script:2: ", "'json' is a global"])),
        ("load_code", check(&["script:3:", "global 'load'"])),
        ("loadstring_code", check(&["script:2:", "global 'loadstring'"])),
        ("task_wait", check(&["script:3:", "'task'", "sleep"])),
        ("os_exit", check(&["script:5:", "exit", "return"])),
        ("os_execute", check(&["script:2:", "execute"])),
        ("popen", check(&["script:2:", "io.popen is not available"])),
        ("io_write", check(&["script:2:", "io.write is not available; use print, or io.open"])),
        ("bit_library", check(&["script:2:", "'bit'", "bit32"])),
        ("collect_garbage", check(&["script:2:", "global 'collectgarbage'"])),
        ("colon_call", check(&["script:2:", "call it with a dot"])),
        ("unknown_function", check(&["script:2:", "get_orders", "get_order", "list_orders"])),
        ("unknown_function_typo", check(&["script:2:", "list_product", "list_products"])),
        ("wrong_parameter", check(&["script:2:", "store.get_customer: ", "'id'", "customer_id"])),
        ("positional_argument", check(&["script:2:", "store.get_order: ", "order_id"])),
        ("limit_too_large", runtime(&["script:2: store.list_orders: limit: 100 is greater than the maximum of 25"])),
        ("bad_enum", check(&["script:2:", "store.list_orders: status: ", "open", "paid", "pending"])),
        ("misspelt_field", runtime(&["script:3: ", "arithmetic", "totl"])),
        ("index_of_missing", runtime(&["script:3: ", "index nil", "city", "adress"])),
        ("null_address_city", runtime(&["script:3: ", "index nil", "city", "address"])),
        ("misspelt_method", check(&["script:3:", "'wrte'", "write"])),
        ("helper_not_defined", check(&["script:3:", "global 'trim'"])),
        ("string_trim_method", check(&["script:3:", "'trim'"])),
        ("endless_cursor", error("calls", &[TOO_MANY_CALLS])),
        ("endless_retry", error("calls", &[TOO_MANY_CALLS])),
        ("uncaught_table_error", runtime(&["stock too low: MN-327"])),
        ("body_in_parameters", check(&["script:2:", "store.update_order: ", "'status'", "body"])),
        ("module_dotted", runtime(&["script:5: ", "lib.text", "./"])),
        ("dofile_helper", check(&["script:3:", "global 'dofile'", "require"])),
        ("json_parse", check(&["script:2:", "'parse'", "json.decode"])),
        ("require_sdk", runtime(&["script:2: ", "'sdk' is a global"])),
        ("extend_string_library", check(&["script:2:", "readonly"])),
        ("unknown_json_option", runtime(&["script:2: ", "pretty", "indent"])),
        ("result_function", error("result", &["next", "function"])),
    ]
}
