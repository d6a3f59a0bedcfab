//! Tasks whose scripts can't work. The error tells the model what to write instead.

use crate::first_try::expected::{Expected, error};

/// The message of a run that made too many calls.
const TOO_MANY_CALLS: &str = "1,000 function calls were made, the limit; if this is a loop over pages, check that the cursor ends";

pub fn all() -> Vec<(&'static str, Expected)> {
    let syntax = |texts: &[&'static str]| error("syntax", texts);
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
        ("getenv", runtime(&["script:2: ", "getenv", "environment"])),
        ("tointeger", runtime(&["script:4: ", "field 'tointeger'", "math.floor"])),
        ("math_type", runtime(&["script:4: ", "field 'type'"])),
        ("require_json", runtime(&["script:2: ", "'json' is a global"])),
        ("load_code", runtime(&["script:3: ", "global 'load'"])),
        ("loadstring_code", runtime(&["script:2: ", "global 'loadstring'"])),
        ("task_wait", runtime(&["script:3: ", "'task'", "sleep"])),
        ("os_exit", runtime(&["script:5: ", "exit", "return"])),
        ("os_execute", runtime(&["script:2: ", "execute"])),
        ("popen", runtime(&["script:2: io.popen is not available"])),
        ("io_write", runtime(&["script:2: io.write is not available; use print, or io.open"])),
        ("bit_library", runtime(&["script:2: ", "'bit'", "bit32"])),
        ("collect_garbage", runtime(&["script:2: ", "global 'collectgarbage'"])),
        ("colon_call", runtime(&["script:2: ", "call it with a dot"])),
        ("unknown_function", runtime(&["script:2: ", "get_orders", "get_order", "list_orders"])),
        ("unknown_function_typo", runtime(&["script:2: ", "list_product", "list_products"])),
        ("wrong_parameter", runtime(&["script:2: store.get_customer: ", "'id'", "customer_id"])),
        ("positional_argument", runtime(&["script:2: store.get_order: ", "order_id"])),
        ("limit_too_large", runtime(&["script:2: store.list_orders: limit: 100 is greater than the maximum of 25"])),
        ("bad_enum", runtime(&["script:2: store.list_orders: status: ", "open", "paid", "pending"])),
        ("misspelt_field", runtime(&["script:3: ", "arithmetic", "totl"])),
        ("index_of_missing", runtime(&["script:3: ", "index nil", "city", "adress"])),
        ("null_address_city", runtime(&["script:3: ", "index nil", "city", "address"])),
        ("misspelt_method", runtime(&["script:3: ", "method 'wrte'"])),
        ("helper_not_defined", runtime(&["script:3: ", "global 'trim'"])),
        ("string_trim_method", runtime(&["script:3: ", "method 'trim'"])),
        ("endless_cursor", error("calls", &[TOO_MANY_CALLS])),
        ("endless_retry", error("calls", &[TOO_MANY_CALLS])),
        ("uncaught_table_error", runtime(&["stock too low: MN-327"])),
        ("body_in_parameters", runtime(&["script:2: store.update_order: ", "'status'", "body"])),
        ("module_dotted", runtime(&["script:5: ", "lib.text", "./"])),
        ("dofile_helper", runtime(&["script:3: ", "global 'dofile'", "require"])),
        ("json_parse", runtime(&["script:2: ", "field 'parse'", "json.decode"])),
        ("require_sdk", runtime(&["script:2: ", "'sdk' is a global"])),
        ("extend_string_library", runtime(&["script:2: ", "readonly"])),
        ("unknown_json_option", runtime(&["script:2: ", "pretty", "indent"])),
        ("result_function", error("result", &["next", "function"])),
    ]
}
