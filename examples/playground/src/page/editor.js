// The script editor, based on CodeMirror.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, dropCursor, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { luau } from "./luau-highlighting.js";

const highlightStyle = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--keyword)" },
  { tag: tags.string, color: "var(--string)" },
  { tag: tags.number, color: "var(--number)" },
  { tag: tags.comment, color: "var(--comment)" },
  { tag: tags.standard(tags.variableName), color: "var(--name)" },
]);

const theme = EditorView.theme({
  "&": { backgroundColor: "transparent", fontSize: "0.8125rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", fontVariantLigatures: "none" },
  ".cm-content": { padding: "0.75rem 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 1rem 0 0.5rem" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--muted)", border: "none", opacity: "0.85" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 0.375rem 0 1rem", minWidth: "2.75rem" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--ink)" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--muted) 8%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "var(--selection)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--selection)" },
});

/** @param {() => void} onRun called on Ctrl+Enter or Command+Enter */
export function createEditor(parent, text, styleNonce, onRun) {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorView.cspNonce.of(styleNonce),
        // Before the default keymap, which inserts a line on Mod-Enter.
        keymap.of([{ key: "Mod-Enter", run: () => (onRun(), true) }, indentWithTab, ...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({
          "aria-label": "Script",
          "aria-describedby": "editor-help",
          spellcheck: "false",
          autocorrect: "off",
          autocapitalize: "off",
        }),
        lineNumbers(),
        history(),
        drawSelection(),
        dropCursor(),
        indentUnit.of("    "),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        luau,
        syntaxHighlighting(highlightStyle),
        theme,
      ],
    }),
  });
  return {
    get text() {
      return view.state.doc.toString();
    },
    /** Replaces the text in one step that can be undone. */
    set text(replacement) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: replacement }, selection: { anchor: 0 }, scrollIntoView: true });
    },
    focus: () => view.focus(),
  };
}
