// Syntax highlighting for Luau: the Lua mode of CodeMirror, extended with the syntax of Luau.

import { StreamLanguage } from "@codemirror/language";
import { lua } from "@codemirror/legacy-modes/mode/lua";

const words = (text) => new Set(text.split(" "));
const OPENING = words("function if repeat do");
const CLOSING = words("end until");
const KEYWORDS = words("and break continue do else elseif end false for function if in local nil not or repeat return then true until while export type");
const LIBRARIES = words("string table math os coroutine buffer bit32 utf8 vector debug json io sdk");
const FUNCTIONS = words("print progress assert error pcall xpcall select next pairs ipairs tonumber tostring typeof setmetatable getmetatable rawget rawset rawequal rawlen unpack");

// The tokenizer state of the Lua mode outside of long strings and comments.
const normalState = lua.startState().cur;

function interpolatedString(stream) {
  stream.next();
  for (let character; (character = stream.next()) !== undefined && character !== "`"; ) if (character === "\\") stream.next();
  return "string";
}

// Replaces the Lua mode for words, which treats "-" and "." as letters and ignores case.
function word(stream, state) {
  const name = stream.current();
  const isField = /[.:]/.test(stream.string[stream.start - 1] ?? "") && stream.string[stream.start - 2] !== ".";
  if (isField) return "propertyName";
  if (OPENING.has(name)) state.indentDepth += 1;
  if (CLOSING.has(name)) state.indentDepth -= 1;
  // `type` and `export` are keywords only before a name. `type` is also a function.
  if (name === "type" || name === "export") return stream.match(/^\s+[A-Za-z_]/, false) ? "keyword" : "variableName.standard";
  if (KEYWORDS.has(name)) return "keyword";
  if (FUNCTIONS.has(name) || LIBRARIES.has(name)) return "variableName.standard";
  return "variableName";
}

export const luau = StreamLanguage.define({
  ...lua,
  name: "luau",
  token(stream, state) {
    if (state.cur === normalState) {
      if (stream.peek() === "`") return interpolatedString(stream);
      if (stream.match(/^[A-Za-z_]\w*/)) return word(stream, state);
      if (stream.match(/^(?:0[xXbB][\da-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)/)) return "number";
    }
    return lua.token(stream, state);
  },
});
