// Formats JSON text without parsing it, so that numbers and the order of keys are preserved.

import { endOfString } from "../runner/json-scan.js";

const WHITESPACE = /\s/;
/** Characters of an array or object that is formatted on one line. */
const MAX_INLINE_LENGTH = 72;

/** Formats JSON with one line per item, and short arrays and objects on one line. Stops soon after `limit` characters. */
export function formatJson(text, limit) {
  const pieces = [];
  let size = 0;
  let indent = "";
  const add = (piece) => {
    pieces.push(piece);
    size += piece.length;
  };
  for (let at = 0; at < text.length && size <= limit; ) {
    const character = text[at];
    let end = at + 1;
    if (character === "{" || character === "[") {
      end = endOfInline(text, at);
      if (end > 0) add(addSpaces(text.slice(at, end)));
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
    else if (!WHITESPACE.test(character)) {
      end = character === '"' ? endOfString(text, at) : endOfScalar(text, at);
      add(text.slice(at, end));
    }
    at = end;
  }
  return pieces.join("");
}

function endOfScalar(text, start) {
  let at = start;
  while (at < text.length && !/[\s,:{}[\]"]/.test(text[at])) at += 1;
  return at;
}

/** Returns the end of a short array or object that contains no other, or 0. */
function endOfInline(text, start) {
  const limit = start + MAX_INLINE_LENGTH;
  for (let at = start + 1; at < text.length && at < limit; ) {
    const character = text[at];
    if (character === "{" || character === "[") return 0;
    if (character === "}" || character === "]") return at + 1;
    at = character === '"' ? endOfString(text, at) : at + 1;
  }
  return 0;
}

/** Adds spaces to an array or object on one line. */
function addSpaces(text) {
  let out = "";
  for (let at = 0; at < text.length; ) {
    const end = text[at] === '"' ? endOfString(text, at) : at + 1;
    out += text.slice(at, end);
    if (text[at] === "," || text[at] === ":") out += " ";
    at = end;
  }
  return out.startsWith("{") && out.length > 2 ? `{ ${out.slice(1, -1)} }` : out;
}
