// The page: puts the parts together, and runs one script at a time.

import compressedModule from "playground:module";
import examples from "playground:examples";
import workerSource from "playground:worker";
import { createEditor } from "./editor.js";
import { FileStore } from "./file-store.js";
import { FilesView } from "./files-view.js";
import { OutputView } from "./output-view.js";
import { createRunner } from "./runner.js";
import { countOf, durationOf, splitArguments } from "./words.js";

const part = (id) => document.getElementById(id);

const styleNonce = document.querySelector("style").nonce;
const editor = createEditor(part("editor"), examples[0].text, styleNonce, () => part("controls").requestSubmit());
const files = new FileStore();
const filesView = new FilesView(files);
const output = new OutputView();

let run;
let running;

function showStatus(state, text) {
  part("status").textContent = text;
  part("status").parentElement.dataset.state = state;
  part("clock").textContent = "";
}

async function runScript() {
  if (running !== undefined || run === undefined) return;
  running = new AbortController();
  const began = performance.now();
  const clock = setInterval(() => (part("clock").textContent = durationOf(performance.now() - began)), 100);
  setBusy(true);
  output.begin();
  showStatus("busy", "Running");
  showOutput();
  const finished = await run({
    script: editor.text,
    arguments: splitArguments(part("arguments").value),
    seconds: part("seconds").valueAsNumber,
    files,
    signal: running.signal,
    onLog: (line) => output.log(line),
  });
  clearInterval(clock);
  running = undefined;
  output.finish(finished);
  setBusy(false);
  showStatus(finished.outcome.error ? "bad" : "good", summaryOf(finished));
}

function setBusy(isBusy) {
  const hadFocus = document.activeElement;
  part("run").disabled = isBusy;
  part("stop").disabled = !isBusy;
  filesView.busy = isBusy;
  // Who works with the keyboard goes from Run to Stop and back.
  if (isBusy && hadFocus === part("run")) part("stop").focus();
  if (!isBusy && hadFocus === part("stop")) part("run").focus();
}

/** In one column the output is further down: it moves to where it can be seen, with Stop above it. */
function showOutput() {
  if (part("output").getBoundingClientRect().bottom > innerHeight) part("stop").parentElement.scrollIntoView();
}

function summaryOf({ outcome: { error }, milliseconds }) {
  if (error?.kind === "timeout") return `Stopped after ${countOf(part("seconds").valueAsNumber, "second")}`;
  if (error?.kind === "cancelled") return "Stopped";
  return error ? `Failed: ${error.kind}` : `Done in ${durationOf(milliseconds)}`;
}

async function compile() {
  const stream = new Blob([compressedModule]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

part("example").append(...examples.map(({ name }) => new Option(name)));
part("example").addEventListener("change", () => (editor.text = examples[part("example").selectedIndex].text));
part("stop").addEventListener("click", () => running?.abort());
part("controls").addEventListener("submit", (event) => {
  event.preventDefault();
  runScript();
});

const ready = compile().then(
  (module) => {
    const workerAddress = URL.createObjectURL(new Blob([workerSource], { type: "text/javascript" }));
    run = createRunner(module, workerAddress);
    part("run").disabled = false;
    showStatus("idle", "Ready");
    return run;
  },
  (error) => showStatus("bad", `This browser can't run the module: ${error.message}`),
);

/** For the console, for tests, and as an example of how to use the runner. */
window.toolscript = { run: async (order) => (await ready)(order), FileStore };
