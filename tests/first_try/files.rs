//! The files in the io directory at the start of a trial.

use super::data::{PICTURE, log_text};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// A line of the access log: client, minute, method, path, status, bytes.
pub type Access = (&'static str, usize, &'static str, &'static str, u16, usize);

pub fn access() -> Vec<Access> {
    let clients = ["10.0.0.5", "192.168.1.20", "10.0.0.9", "172.16.4.2"];
    let paths = ["/", "/api/orders", "/api/customers?page=2", "/static/app.js", "/login"];
    let statuses = [200, 200, 304, 404, 200, 500, 201];
    (0..80)
        .map(|index| {
            let method = if index % 6 == 5 { "POST" } else { "GET" };
            (clients[(index * index) % 7 % 4], index % 60, method, paths[index * 3 % 5], statuses[index * 4 % 7], 120 + index * 53 % 900)
        })
        .collect()
}

/// Sales: region, month, units, revenue in cents.
pub fn sales() -> Vec<(&'static str, &'static str, u32, u32)> {
    let regions = ["North", "South", "East, Middle", "West"];
    let months = ["2026-01", "2026-02", "2026-03"];
    let row = |index: usize| (regions[index % 4], months[index / 4 % 3], (index * 7 % 23 + 1) as u32, (index * 1237 % 9001 + 250) as u32);
    (0..24).map(row).collect()
}

/// Employees: id, name, manager, salary. The manager of the head is null.
pub fn employees() -> Vec<Value> {
    let employee =
        |id: u32, name: &str, manager: Option<u32>, salary: u32| json!({ "id": id, "name": name, "manager_id": manager, "salary": salary });
    vec![
        employee(1, "Iris", None, 9000),
        employee(2, "Ben", Some(1), 7000),
        employee(3, "Cleo", Some(1), 7200),
        employee(4, "Dan", Some(2), 5100),
        employee(5, "Edda", Some(2), 5300),
        employee(6, "Finn", Some(3), 4900),
        employee(7, "Gus", Some(6), 4100),
    ]
}

pub fn readings() -> Vec<u16> {
    (0..40u16).map(|index| index.wrapping_mul(1607) ^ 0x2a5).collect()
}

pub fn config() -> Value {
    json!({ "name": "billing", "replicas": 2, "proxy": null, "limits": { "cpu": "500m", "memory": null }, "ports": [8080, 9090], "labels": {} })
}

pub const INI: &str = "; main settings\n[server]\nhost = 127.0.0.1\nport = 8443\n\n[database]\nurl=postgres://db.internal:5432/app\npool = 12\nssl = true\n\n# features\n[features]\nexport = on\nbeta = off\n";

pub const TODO: &str = "# Release\n\n- [x] Write changelog\n- [ ] Tag version (due 2026-03-01)\n- [ ] Publish image\n- [x] Update docs (due 2026-02-10)\n\n## Later\n\n- [ ] Clean up flags (due 2026-04-15)\n";

pub const ARTICLE: &str = "The quick brown fox jumps over the lazy dog. The dog sleeps; the fox doesn't.\nA fox is quick, a dog is lazy - and the end is near the end.\n";

pub const NUMBERS: &str = "12 7.5 -3\n40\n0.25 100\n";

/// Writes all files.
pub fn write(directory: &Path) {
    let put = |name: &str, contents: &[u8]| {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, contents).expect("a file");
    };
    let line = |(client, minute, method, path, status, bytes): &Access| {
        format!("{client} - - [03/Feb/2026:10:{minute:02}:00 +0000] \"{method} {path} HTTP/1.1\" {status} {bytes} \"-\" \"curl/8.5\"\n")
    };
    put("logs/access.log", access().iter().map(line).collect::<String>().as_bytes());
    put("logs/app.log", log_text("2026-02-03").as_bytes());
    put("data/sales.csv", sales_csv().as_bytes());
    put("data/employees.json", Value::Array(employees()).to_string().as_bytes());
    put("data/readings.bin", &readings().iter().flat_map(|reading| reading.to_le_bytes()).collect::<Vec<u8>>());
    put("data/config.json", config().to_string().as_bytes());
    put("data/config.ini", INI.as_bytes());
    put("data/numbers.txt", NUMBERS.as_bytes());
    put("images/logo.png", PICTURE);
    put("notes/todo.md", TODO.as_bytes());
    put("notes/article.txt", ARTICLE.as_bytes());
}

fn sales_csv() -> String {
    let field = |text: &str| if text.contains(',') { format!("\"{text}\"") } else { text.to_owned() };
    let row = |(region, month, units, revenue): &(&str, &str, u32, u32)| {
        format!("{},{month},{units},{}.{:02}\n", field(region), revenue / 100, revenue % 100)
    };
    format!("region,month,units,revenue\n{}", sales().iter().map(row).collect::<String>())
}
