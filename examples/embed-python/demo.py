"""Runs scripts in a sandbox with a directory, a function and limits."""

from toolscript import Limits, Sandbox, ScriptError

PRICES = {"tea": 3.5, "cake": 4.0}

BILL = """
    local total = 0
    for line in io.lines("order.txt") do
        local count, item = line:match("(%d+) (%a+)")
        total += count * sdk.price(item)
        print(item .. ": " .. total)
    end
    io.open("bill.txt", "w"):write(total):close()
    return total
"""

FAILING = [
    "return sdk.price('gold')",
    "print('started') while true do end",
    "return ('x'):rep(1e9)",
    "return io.open('../secret.txt')",
]

# Scripts can access the directory `files` and nothing else.
box = Sandbox("files", limits=Limits(timeout=0.5, memory="32MiB"))


@box.function
def price(item: str) -> float:
    """Returns the price of an item."""
    if item not in PRICES:
        raise ValueError(f"no price for {item}")
    return PRICES[item]


box.write("order.txt", "2 tea\n1 cake\n", mode="overwrite")
run = box.run(BILL)
print("result:", run.result)
print("logs:", run.logs)
for file in run.files_touched:
    print("touched:", file.name, file.op, file.bytes)
print("bill.txt:", box.read_text("bill.txt"))

for script in FAILING:
    try:
        box.run(script)
    except ScriptError as error:
        print(f"{error.kind}: {error.message}", error.logs)
