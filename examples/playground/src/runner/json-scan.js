// Finds the end of strings and values in JSON text, without parsing it.

/** Returns the end of the string that starts at `start`. */
export function endOfString(text, start) {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Returns the end of the value that starts at `start`. */
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
