// JSON as text, laid out without being parsed: numbers and the order of keys stay as they were written.

const SPACE = /\s/;

function endOfString(text, start) {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Where the value that begins at `start` ends. */
export function endOfValue(text, start) {
  let depth = 0;
  for (let at = start; at < text.length; ) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else {
      if (depth === 0 && (character === "," || character === "}" || character === "]")) return at;
      if (character === "{" || character === "[") depth += 1;
      if (character === "}" || character === "]") depth -= 1;
      at += 1;
    }
    if (depth === 0 && (text[at - 1] === "}" || text[at - 1] === "]" || text[at - 1] === '"')) return at;
  }
  return text.length;
}

/** With a line for each item, short arrays and objects on one; no more than `limit` characters, as far as they go. */
export function layOut(text, limit) {
  const parts = [];
  let size = 0;
  let indent = "";
  const add = (part) => {
    parts.push(part);
    size += part.length;
  };
  for (let at = 0; at < text.length && size <= limit; ) {
    const character = text[at];
    let end = at + 1;
    if (character === "{" || character === "[") {
      end = shortEnd(text, at);
      if (end > 0) add(spaced(text.slice(at, end)));
      else {
        indent += "  ";
        add(`${character}\n${indent}`);
        end = at + 1;
      }
    } else if (character === "}" || character === "]") {
      indent = indent.slice(2);
      add(`\n${indent}${character}`);
    } else if (character === ",") add(`,\n${indent}`);
    else if (character === ":") add(": ");
    else if (!SPACE.test(character)) {
      end = character === '"' ? endOfString(text, at) : endOfScalar(text, at);
      add(text.slice(at, end));
    }
    at = end;
  }
  return parts.join("");
}

function endOfScalar(text, start) {
  let at = start;
  while (at < text.length && !/[\s,:{}[\]"]/.test(text[at])) at += 1;
  return at;
}

/** The end of an array or object that is short and holds no other, or 0. */
function shortEnd(text, start) {
  const most = start + 72;
  for (let at = start + 1; at < text.length && at < most; ) {
    const character = text[at];
    if (character === "{" || character === "[") return 0;
    if (character === "}" || character === "]") return at + 1;
    at = character === '"' ? endOfString(text, at) : at + 1;
  }
  return 0;
}

function spaced(text) {
  let out = "";
  for (let at = 0; at < text.length; ) {
    const end = text[at] === '"' ? endOfString(text, at) : at + 1;
    out += text.slice(at, end);
    if (text[at] === "," || text[at] === ":") out += " ";
    at = end;
  }
  return out.startsWith("{") && out.length > 2 ? `{ ${out.slice(1, -1)} }` : out;
}
