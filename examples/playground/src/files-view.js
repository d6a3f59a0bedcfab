// The files: a list, and what can be done with each.
//
// Names and contents are a script's own text: they are only ever set as text.

import { MAX_TOTAL } from "./file-store.js";
import { download, sizeOf } from "./words.js";

/** Rows that are shown: a script may make ten thousand files. */
const MAX_ROWS = 500;
const MAX_VIEWED = 64 * 1024;
const MAX_VIEWED_AS_HEX = 4 * 1024;

const part = (id) => document.getElementById(id);

export class FilesView {
  #files;
  #timer;
  #isBusy = false;
  #viewed;

  /** @param {import("./file-store.js").FileStore} files */
  constructor(files) {
    this.#files = files;
    // Now and then, however often a script writes.
    files.addEventListener("change", () => (this.#timer ??= setTimeout(() => this.#show(), this.#isBusy ? 250 : 0)));
    this.#listen();
    this.#show();
  }

  /** While a script runs it has the files to itself. */
  set busy(isBusy) {
    this.#isBusy = isBusy;
    for (const button of document.querySelectorAll("#new-file, #upload, #files .delete")) button.disabled = isBusy;
    if (!isBusy && this.#timer !== undefined) this.#show();
  }

  #listen() {
    part("upload").addEventListener("click", () => part("upload-input").click());
    part("upload-input").addEventListener("change", async () => {
      await this.#upload([...part("upload-input").files]);
      part("upload-input").value = "";
    });
    const panel = document.querySelector(".files");
    panel.addEventListener("dragover", (event) => {
      if (this.#isBusy) return;
      event.preventDefault();
      panel.classList.add("over");
    });
    panel.addEventListener("dragleave", () => panel.classList.remove("over"));
    panel.addEventListener("drop", (event) => {
      event.preventDefault();
      panel.classList.remove("over");
      if (!this.#isBusy) this.#upload([...event.dataTransfer.files]);
    });

    part("new-file").addEventListener("click", () => {
      part("new-form").reset();
      part("new-problem").hidden = true;
      part("new-dialog").showModal();
    });
    part("new-cancel").addEventListener("click", () => part("new-dialog").close());
    part("new-form").addEventListener("submit", (event) => {
      const problem = this.#add(part("new-path").value, part("new-contents").value);
      part("new-problem").textContent = problem;
      part("new-problem").hidden = problem === "";
      if (problem !== "") event.preventDefault();
    });
    part("view-close").addEventListener("click", () => part("view-dialog").close());
    part("view-download").addEventListener("click", () => this.#download(this.#viewed));
  }

  /** What was wrong, or nothing. */
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
      // Before it is read: a page has no room for a film.
      if (upload.size > MAX_TOTAL) problems.push(`${upload.name}: too large`);
      else problems.push(this.#add(upload.name, new Uint8Array(await upload.arrayBuffer())));
    }
    const problem = problems.filter((text) => text !== "").join("; ");
    part("files-problem").textContent = problem;
    part("files-problem").hidden = problem === "";
  }

  #download(path) {
    download(path.split("/").at(-1), this.#files.get(path));
  }

  #show() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const focused = part("files").contains(document.activeElement) ? document.activeElement.title : undefined;
    const entries = this.#files.list();
    const rows = entries.slice(0, MAX_ROWS).map((entry) => this.#row(entry));
    if (entries.length === 0) rows.push(note("None yet. What scripts write stays here until the page is closed."));
    if (entries.length > MAX_ROWS) rows.push(note(`… and ${entries.length - MAX_ROWS} more`));
    part("files").replaceChildren(...rows);
    // The buttons are new ones, and whoever is at the keyboard was on one of the old.
    if (focused !== undefined) [...part("files").querySelectorAll("button")].find((made) => made.title === focused)?.focus();
    part("files-total").textContent = entries.length === 0 ? "" : sizeOf(entries.reduce((sum, entry) => sum + entry.size, 0));
  }

  #row({ path, folder, size }) {
    const names = path.split("/");
    const row = document.createElement("li");
    row.classList.toggle("folder", folder);
    row.style.setProperty("--depth", Math.min(names.length - 1, 6));
    if (folder) {
      const name = document.createElement("span");
      name.className = "name";
      name.textContent = `${names.at(-1)}/`;
      row.append(name);
    } else {
      const space = document.createElement("span");
      space.className = "size";
      space.textContent = sizeOf(size);
      row.append(
        button(names.at(-1), `View ${path}`, "quiet name", () => this.#view(path)),
        space,
        button("Save", `Download ${path}`, "quiet", () => this.#download(path)),
      );
    }
    const remove = button("Delete", `Delete ${path}`, "quiet delete", () => this.#remove(path, folder));
    remove.disabled = this.#isBusy;
    row.append(remove);
    return row;
  }

  #remove(path, folder) {
    const inside = this.#files.list().filter((entry) => entry.path.startsWith(`${path}/`)).length;
    if (folder && inside > 0 && !confirm(`Delete ${path} with all that is in it?`)) return;
    this.#files.remove(path);
    // The button that had the focus is gone.
    part("new-file").focus();
  }

  #view(path) {
    this.#viewed = path;
    const bytes = this.#files.get(path);
    const { text, note: remark } = readable(bytes);
    part("view-title").textContent = path;
    part("view-note").textContent = [sizeOf(bytes.length), remark].filter(Boolean).join(", ");
    part("view").textContent = text;
    part("view-dialog").showModal();
    part("view").scrollTop = 0;
  }
}

function note(text) {
  const row = document.createElement("li");
  row.className = "note";
  row.textContent = text;
  return row;
}

function button(text, label, classes, onClick) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = classes;
  made.textContent = text;
  made.setAttribute("aria-label", label);
  made.title = label;
  made.addEventListener("click", onClick);
  return made;
}

function readable(bytes) {
  const isCut = bytes.length > MAX_VIEWED;
  try {
    // As a stream: the cut may be within a character.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, MAX_VIEWED), { stream: isCut });
    if (!text.includes("\0")) return { text, note: isCut ? "cut in this view" : "" };
  } catch {
    // Not a text.
  }
  const part = bytes.subarray(0, MAX_VIEWED_AS_HEX);
  const lines = [];
  for (let at = 0; at < part.length; at += 16) {
    const line = [...part.subarray(at, at + 16)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${line}`);
  }
  return { text: lines.join("\n"), note: part.length < bytes.length ? "not a text, the first 4 KiB" : "not a text" };
}
