// The entry point of the page. It connects the views and runs one script at a time.

import compressedModule from "playground:module";
import examples from "playground:examples";
import workerSource from "playground:worker";
import { FileStore } from "../runner/file-store.js";
import { createRunner } from "../runner/runner.js";
import { createEditor } from "./editor.js";
import { FilesView } from "./files-view.js";
import { formatCount, formatDuration } from "./format.js";
import { OutputView } from "./output-view.js";
import { splitArguments } from "./split-arguments.js";

const element = (id) => document.getElementById(id);

const styleNonce = document.querySelector("style").nonce;
const editor = createEditor(element("editor"), examples[0].text, styleNonce, () => element("controls").requestSubmit());
const files = new FileStore();
const filesView = new FilesView(files);
const output = new OutputView();

// Set once the module is compiled.
let run;
// Set while a script runs.
let abortController;

function showStatus(state, text) {
  element("status").textContent = text;
  element("status").parentElement.dataset.state = state;
  element("clock").textContent = "";
}

async function runScript() {
  if (abortController !== undefined || run === undefined) return;
  abortController = new AbortController();
  const start = performance.now();
  const clock = setInterval(() => (element("clock").textContent = formatDuration(performance.now() - start)), 100);
  setBusy(true);
  output.begin();
  showStatus("busy", "Running");
  scrollToOutput();
  const finished = await run({
    script: editor.text,
    arguments: splitArguments(element("arguments").value),
    timeout: element("timeout").valueAsNumber,
    files,
    signal: abortController.signal,
    onLog: (line) => output.log(line),
  });
  clearInterval(clock);
  abortController = undefined;
  output.finish(finished);
  setBusy(false);
  showStatus(finished.outcome.error ? "bad" : "good", summaryOf(finished));
}

function setBusy(isBusy) {
  const focused = document.activeElement;
  element("run").disabled = isBusy;
  element("stop").disabled = !isBusy;
  filesView.busy = isBusy;
  // A disabled button loses the focus, so it moves from Run to Stop and back.
  if (isBusy && focused === element("run")) element("stop").focus();
  if (!isBusy && focused === element("stop")) element("run").focus();
}

/** Scrolls to the output if it is not visible, as on a phone. The Stop button stays visible above it. */
function scrollToOutput() {
  if (element("output").getBoundingClientRect().bottom > innerHeight) element("stop").parentElement.scrollIntoView();
}

function summaryOf({ outcome: { error }, milliseconds }) {
  if (error?.kind === "timeout") return `Stopped after ${formatCount(element("timeout").valueAsNumber, "second")}`;
  if (error?.kind === "cancelled") return "Stopped";
  return error ? `Failed: ${error.kind}` : `Done in ${formatDuration(milliseconds)}`;
}

async function compile() {
  const stream = new Blob([compressedModule]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

element("example").append(...examples.map(({ name }) => new Option(name)));
element("example").addEventListener("change", () => (editor.text = examples[element("example").selectedIndex].text));
element("stop").addEventListener("click", () => abortController?.abort());
element("controls").addEventListener("submit", (event) => {
  event.preventDefault();
  runScript();
});

const ready = compile().then(
  (module) => {
    const workerUrl = URL.createObjectURL(new Blob([workerSource], { type: "text/javascript" }));
    run = createRunner(module, workerUrl);
    element("run").disabled = false;
    showStatus("idle", "Ready");
    return run;
  },
  (error) => showStatus("bad", `This browser can't run the module: ${error.message}`),
);

/** The runner, for the console and for tests. */
window.toolscript = { run: async (options) => (await ready)(options), FileStore };
