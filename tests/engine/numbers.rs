//! Conversion between numbers and text. The fast paths of the guest must match the exact conversions of Rust.

use crate::support::{engine, run_with};
use toolscript::{RunOptions, Script};

/// Returns doubles of all magnitudes from a fixed seed: random bits, and decimals with few digits.
fn numbers() -> Vec<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut numbers =
        vec![0.0, -0.0, 0.5, 1.5, 2.5, 1.005, 2.675, 1e15, 1e21, 1e22, 1e23, 5e-324, f64::MAX, f64::MIN_POSITIVE, 9_007_199_254_740_993.0];
    for _ in 0..400 {
        numbers.push(f64::from_bits(next()));
        #[expect(clippy::cast_precision_loss, reason = "the exact value does not matter")]
        numbers.push((next() % 100_000_000) as f64 / 1000.0);
        #[expect(clippy::cast_precision_loss, reason = "the exact value does not matter")]
        numbers.push(-((next() % 1_000_000_000_000_000) as f64) / 64.0);
    }
    numbers.retain(|number| number.is_finite());
    numbers
}

#[tokio::test]
async fn fixed_formats_are_exact() {
    let numbers = numbers();
    let hex = numbers.iter().map(|number| format!("{:016x}", number.to_bits())).collect::<Vec<_>>().join(" ");
    let source = "
        local lines = {}
        for bits in string.gmatch((...), '%x+') do
            local block = buffer.create(8)
            buffer.writeu32(block, 4, tonumber(bits:sub(1, 8), 16))
            buffer.writeu32(block, 0, tonumber(bits:sub(9, 16), 16))
            local number = buffer.readf64(block, 0)
            table.insert(lines, string.format('%.0f|%.2f|%12.3f|%f|%.17f', number, number, number, number, number))
        end
        return lines";
    let script = Script::new(source).with_arguments([hex]);
    let run = engine().run(&script, RunOptions::default()).await.expect("the run is accepted");
    let lines: Vec<String> = run.outcome.decode().expect("lines");
    assert_eq!(lines.len(), numbers.len());
    for (number, line) in numbers.iter().zip(&lines) {
        assert_eq!(line, &format!("{number:.0}|{number:.2}|{number:12.3}|{number:.6}|{number:.17}"), "{number:e}");
    }
}

#[tokio::test]
async fn numbers_are_parsed_as_the_nearest_double() {
    let mut texts: Vec<String> =
        numbers().iter().flat_map(|number| [format!("{number}"), format!("{number:e}"), format!("{number:.3}")]).collect();
    texts.extend(
        ["1e400", "123456789012345678901234567890", "0.1", "1.", ".5", "00012.50", "9007199254740993", "4.35", "0.000001"]
            .map(String::from),
    );
    let script = Script::new("local out = {} for text in string.gmatch((...), '%S+') do table.insert(out, string.format('%.17g', tonumber(text))) end return out")
        .with_arguments([texts.join(" ")]);
    let run = engine().run(&script, RunOptions::default()).await.expect("the run is accepted");
    let read: Vec<String> = run.outcome.decode().expect("numbers");
    assert_eq!(read.len(), texts.len());
    for (text, read) in texts.iter().zip(&read) {
        let expected: f64 = text.parse().expect("a number");
        let actual: f64 = read.parse().expect("a number");
        assert_eq!(actual.to_bits(), expected.to_bits(), "{text} was read as {read}");
    }
}

#[tokio::test]
async fn json_numbers_round_trip_exactly() {
    let texts: Vec<String> = numbers().iter().map(|number| format!("{number:e}")).collect();
    let source = format!("return json.decode('[{}]')", texts.join(","));
    let run = run_with(&source, RunOptions::default()).await;
    let read: Vec<f64> = run.outcome.decode().expect("numbers");
    for (text, read) in texts.iter().zip(&read) {
        assert_eq!(read.to_bits(), text.parse::<f64>().expect("a number").to_bits(), "{text}");
    }
}

type Function = fn(f64) -> f64;

/// Functions of `math`, with the function of Rust for the same.
const FUNCTIONS: [(&str, Function); 8] = [
    ("math.sin(x)", f64::sin),
    ("math.cos(x)", f64::cos),
    ("math.tan(x)", f64::tan),
    ("math.exp(x)", f64::exp),
    ("math.log(x)", f64::ln),
    ("math.log(x, 2)", f64::log2),
    ("math.log10(x)", f64::log10),
    ("x ^ 1.5", |x| x.powf(1.5)),
];

/// The functions of the guest are compiled from another C library. Both may be off by one in the last place.
#[tokio::test]
async fn mathematical_functions_differ_by_one_in_the_last_place_at_most() {
    let mut numbers = numbers();
    numbers.extend([f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, -1.0, 1e-8, 1e-300, 2.0, 10.0, 709.78, -745.2, 1e308, 0.7, 100.5]);
    let hex = numbers.iter().map(|number| format!("{:016x}", number.to_bits())).collect::<Vec<_>>().join(" ");
    let expressions = FUNCTIONS.map(|(expression, _)| expression).join(", ");
    let source = format!(
        "local lines = {{}}
        local block = buffer.create(8)
        for bits in string.gmatch((...), '%x+') do
            buffer.writeu32(block, 4, tonumber(bits:sub(1, 8), 16))
            buffer.writeu32(block, 0, tonumber(bits:sub(9, 16), 16))
            local x = buffer.readf64(block, 0)
            for _, y in {{ {expressions} }} do
                buffer.writef64(block, 0, y)
                table.insert(lines, string.format('%08x%08x', buffer.readu32(block, 4), buffer.readu32(block, 0)))
            end
        end
        return table.concat(lines, ' ')"
    );
    let run = engine().run(&Script::new(source).with_arguments([hex]), RunOptions::default()).await.expect("the run is accepted");
    let text: String = run.outcome.decode().expect("a text");
    let actual: Vec<f64> = text.split(' ').map(|bits| f64::from_bits(u64::from_str_radix(bits, 16).expect("bits"))).collect();
    assert_eq!(actual.len(), numbers.len() * FUNCTIONS.len());
    for (x, results) in numbers.iter().zip(actual.chunks(FUNCTIONS.len())) {
        for ((expression, function), actual) in FUNCTIONS.iter().zip(results) {
            let expected = function(*x);
            let is_same = (actual.is_nan() && expected.is_nan()) || expected.to_bits().abs_diff(actual.to_bits()) <= 1;
            assert!(is_same, "{expression} with {x:e}: {actual:e} instead of {expected:e}");
        }
    }
}

#[tokio::test]
async fn exact_results_of_mathematical_functions_are_exact() {
    let source = "
        assert(math.exp(1) == math.e and math.exp(0) == 1 and math.log(1) == 0 and math.log(math.e) == 1)
        for n = -300, 300 do
            assert(math.log(2 ^ n, 2) == n, n)
            assert(n < 0 or n > 22 or 10 ^ n == tonumber('1e' .. n), n)
            assert(math.log10(tonumber('1e' .. n)) == n, n)
        end
        assert(1 / math.sin(-0) == -math.huge and math.cos(0) == 1 and math.sqrt(2) ^ 2 ~= 2)
        return true";
    let run = engine().run(&Script::new(source), RunOptions::default()).await.expect("the run is accepted");
    assert!(run.outcome.decode::<bool>().expect("all results are exact"));
}
