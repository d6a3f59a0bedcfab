// The list of files, with actions to view, save, add and delete them.
//
// Names and contents are untrusted, so they are only inserted as text.

import { MAX_TOTAL } from "../runner/file-store.js";
import { download } from "./download.js";
import { formatSize } from "./format.js";

/** Rows that are shown. A script can create ten thousand files. */
const MAX_ROWS = 500;
/** Bytes of a file that are shown, as text and as hexadecimal. */
const MAX_VIEWED = 64 * 1024;
const MAX_VIEWED_AS_HEX = 4 * 1024;
/** Milliseconds between updates of the list while a script runs. */
const RENDER_INTERVAL = 250;

const element = (id) => document.getElementById(id);

export class FilesView {
  #files;
  #timer;
  #isBusy = false;
  #viewed;

  /** @param {import("../runner/file-store.js").FileStore} files */
  constructor(files) {
    this.#files = files;
    // Rendered at intervals, because a script can write very often.
    files.addEventListener("change", () => (this.#timer ??= setTimeout(() => this.#render(), this.#isBusy ? RENDER_INTERVAL : 0)));
    this.#listen();
    this.#render();
  }

  /** Disables changes to files while a script runs. */
  set busy(isBusy) {
    this.#isBusy = isBusy;
    for (const button of document.querySelectorAll("#new-file, #upload, #files .delete")) button.disabled = isBusy;
    if (!isBusy && this.#timer !== undefined) this.#render();
  }

  #listen() {
    element("upload").addEventListener("click", () => element("upload-input").click());
    element("upload-input").addEventListener("change", async () => {
      await this.#upload([...element("upload-input").files]);
      element("upload-input").value = "";
    });
    const panel = document.querySelector(".files");
    panel.addEventListener("dragover", (event) => {
      if (this.#isBusy) return;
      event.preventDefault();
      panel.classList.add("drag-over");
    });
    panel.addEventListener("dragleave", () => panel.classList.remove("drag-over"));
    panel.addEventListener("drop", (event) => {
      event.preventDefault();
      panel.classList.remove("drag-over");
      if (!this.#isBusy) this.#upload([...event.dataTransfer.files]);
    });

    element("new-file").addEventListener("click", () => {
      element("new-form").reset();
      element("new-problem").hidden = true;
      element("new-dialog").showModal();
    });
    element("new-cancel").addEventListener("click", () => element("new-dialog").close());
    element("new-form").addEventListener("submit", (event) => {
      const problem = this.#add(element("new-path").value, element("new-contents").value);
      element("new-problem").textContent = problem;
      element("new-problem").hidden = problem === "";
      if (problem !== "") event.preventDefault();
    });
    element("view-close").addEventListener("click", () => element("view-dialog").close());
    element("view-save").addEventListener("click", () => this.#download(this.#viewed));
  }

  /** Adds a file. Returns an error message, or an empty string. */
  #add(path, contents) {
    try {
      this.#files.set(path, contents);
      return "";
    } catch (error) {
      return error.message;
    }
  }

  async #upload(uploads) {
    const problems = [];
    for (const upload of uploads) {
      // Checked before the file is read into memory.
      if (upload.size > MAX_TOTAL) problems.push(`${upload.name}: too large`);
      else problems.push(this.#add(upload.name, new Uint8Array(await upload.arrayBuffer())));
    }
    const problem = problems.filter((text) => text !== "").join("; ");
    element("files-problem").textContent = problem;
    element("files-problem").hidden = problem === "";
  }

  #download(path) {
    download(path.split("/").at(-1), this.#files.get(path));
  }

  #render() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const focused = element("files").contains(document.activeElement) ? document.activeElement.title : undefined;
    const entries = this.#files.list();
    const rows = entries.slice(0, MAX_ROWS).map((entry) => this.#createRow(entry));
    if (entries.length === 0) rows.push(createNote("No files yet. Files that scripts write stay here until you close the page."));
    if (entries.length > MAX_ROWS) rows.push(createNote(`… and ${entries.length - MAX_ROWS} more`));
    element("files").replaceChildren(...rows);
    // Restore the focus, because all buttons were replaced.
    if (focused !== undefined) [...element("files").querySelectorAll("button")].find((other) => other.title === focused)?.focus();
    element("files-total").textContent = entries.length === 0 ? "" : formatSize(entries.reduce((sum, entry) => sum + entry.size, 0));
  }

  #createRow({ path, isDirectory, size }) {
    const names = path.split("/");
    const row = document.createElement("li");
    row.classList.toggle("directory", isDirectory);
    row.style.setProperty("--depth", Math.min(names.length - 1, 6));
    if (isDirectory) {
      const name = document.createElement("span");
      name.className = "name";
      name.textContent = `${names.at(-1)}/`;
      row.append(name);
    } else {
      const sizeLabel = document.createElement("span");
      sizeLabel.className = "size";
      sizeLabel.textContent = formatSize(size);
      row.append(
        createButton(names.at(-1), `View ${path}`, "quiet name", () => this.#view(path)),
        sizeLabel,
        createButton("Save", `Save ${path}`, "quiet", () => this.#download(path)),
      );
    }
    const remove = createButton("Delete", `Delete ${path}`, "quiet delete", () => this.#remove(path, isDirectory));
    remove.disabled = this.#isBusy;
    row.append(remove);
    return row;
  }

  #remove(path, isDirectory) {
    const inside = this.#files.list().filter((entry) => entry.path.startsWith(`${path}/`)).length;
    if (isDirectory && inside > 0 && !confirm(`Delete ${path} and everything in it?`)) return;
    this.#files.remove(path);
    // The focused button no longer exists.
    element("new-file").focus();
  }

  #view(path) {
    this.#viewed = path;
    const bytes = this.#files.get(path);
    const { text, note } = formatContent(bytes);
    element("view-title").textContent = path;
    element("view-note").textContent = [formatSize(bytes.length), note].filter(Boolean).join(", ");
    element("view").textContent = text;
    element("view-dialog").showModal();
    element("view").scrollTop = 0;
  }
}

function createNote(text) {
  const row = document.createElement("li");
  row.className = "note";
  row.textContent = text;
  return row;
}

function createButton(text, label, classes, onClick) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = classes;
  button.textContent = text;
  button.setAttribute("aria-label", label);
  button.title = label;
  button.addEventListener("click", onClick);
  return button;
}

/** Returns the start of a file as text, or as hexadecimal if it is binary. */
function formatContent(bytes) {
  const isTruncated = bytes.length > MAX_VIEWED;
  try {
    // In streaming mode, because the text may be truncated within a character.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, MAX_VIEWED), { stream: isTruncated });
    if (!text.includes("\0")) return { text, note: isTruncated ? "truncated in this view" : "" };
  } catch {
    // Not UTF-8: shown as hexadecimal.
  }
  const start = bytes.subarray(0, MAX_VIEWED_AS_HEX);
  const lines = [];
  for (let at = 0; at < start.length; at += 16) {
    const line = [...start.subarray(at, at + 16)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${line}`);
  }
  return { text: lines.join("\n"), note: start.length < bytes.length ? "binary, first 4 KiB" : "binary" };
}
