// Formats counts, sizes and durations for display.

const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export function formatCount(count, singular, plural = `${singular}s`) {
  return `${number.format(count)} ${count === 1 ? singular : plural}`;
}

export function formatSize(bytes) {
  if (bytes < 1024) return formatCount(bytes, "byte");
  return bytes < 1024 * 1024 ? `${number.format(bytes / 1024)} KiB` : `${number.format(bytes / 1024 / 1024)} MiB`;
}

export function formatDuration(milliseconds) {
  if (milliseconds < 1) return "less than 1 ms";
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${number.format(milliseconds / 1000)} s`;
}
