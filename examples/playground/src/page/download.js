// Saves data as a file on the user's disk.

/** The time that the browser has to read the data. */
const REVOKE_DELAY = 60_000;

/** Downloads bytes or a text under this name. */
export function download(name, contents) {
  const url = URL.createObjectURL(new Blob([contents], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_DELAY);
}
