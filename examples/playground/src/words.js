// Small texts: what people type and read.

/** The arguments in a line: words, with "quotes" around those that have spaces in them. */
export function splitArguments(line) {
  const found = [];
  let word;
  let quote;
  for (const character of line) {
    if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= "";
    } else if (/\s/.test(character)) {
      if (word !== undefined) found.push(word);
      word = undefined;
    } else word = (word ?? "") + character;
  }
  if (word !== undefined) found.push(word);
  return found;
}

const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export function countOf(count, one, many = `${one}s`) {
  return `${number.format(count)} ${count === 1 ? one : many}`;
}

export function sizeOf(bytes) {
  if (bytes < 1024) return countOf(bytes, "byte");
  return bytes < 1024 * 1024 ? `${number.format(bytes / 1024)} KiB` : `${number.format(bytes / 1024 / 1024)} MiB`;
}

export function durationOf(milliseconds) {
  if (milliseconds < 1) return "less than 1 ms";
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${number.format(milliseconds / 1000)} s`;
}

/** Hands bytes or a text to the browser, as a download. */
export function download(name, contents) {
  const address = URL.createObjectURL(new Blob([contents], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // Not at once: the browser has yet to read it.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
