/** The results of file operations. */

/** Lines of a text file. */
export interface TextPage {
  type: "text";
  /** The lines with their line endings. */
  text: string;
  /** The number of the first line, counted from 1. */
  firstLine: number;
  /** The number of lines in the page. */
  lines: number;
  /** The number of lines in the file. */
  totalLines: number;
  /** The size of the file. */
  bytes: number;
  /** The limit that ended the page, if the file continues. */
  truncatedBy: "lines" | "bytes" | null;
  /** The page has only the start of its last line. */
  lineTruncated: boolean;
  /** Some bytes are not UTF-8 and were replaced by U+FFFD. */
  lossy: boolean;
  /** The number of the line after the page, if there is one. */
  nextLine: number | null;
  /** The lines, each with its number in front, as models read them. */
  numbered: string;
}

/** A whole file that is not text. */
export interface BinaryFile {
  type: "image" | "binary";
  data: Buffer;
  /** The type of an image, such as `"image/png"`. */
  mimeType: string | null;
}

/** A written file. */
export interface WriteResult {
  /** The path, relative to the directory of the sandbox. */
  name: string;
  /** The number of bytes written. */
  bytes: number;
}

/** An edited file. */
export interface EditResult {
  /** The path, relative to the directory of the sandbox. */
  name: string;
  /** The number of replacements. */
  count: number;
  /** The size of the file after the edit. */
  bytes: number;
}

/** A deleted file or directory. */
export interface DeleteResult {
  /** The path, relative to the directory of the sandbox. */
  name: string;
  /** The number of files that were deleted. */
  files: number;
  /** The number of directories that were deleted. */
  directories: number;
}

/** A file or directory. */
export interface FileInfo {
  /** The name: in a listing relative to the listed directory, in a search result to the directory of the sandbox. */
  name: string;
  kind: "file" | "directory" | "symlink" | "other";
  /** The size of a file, otherwise 0. */
  bytes: number;
  /** The time of the last change. */
  modified: Date | null;
}

/** The result of a search by name. */
export interface GlobResult {
  /** Files and directories, sorted by name. */
  entries: FileInfo[];
  /** There are more than the limit allows. */
  truncated: boolean;
  /** The number of entries that can't be read or have an invalid name. */
  skipped: number;
}

/** A line near a matching line. */
export interface ContextLine {
  line: number;
  text: string;
}

/** A line that matches a search. */
export interface GrepMatch {
  /** The path, relative to the directory of the sandbox. */
  name: string;
  /** The number of the line, counted from 1. */
  line: number;
  /** The line without its line ending. */
  text: string;
  /** The line was truncated to 1 KiB. */
  truncated: boolean;
  /** The lines before it, as many as `context`. */
  before: ContextLine[];
  /** The lines after it, as many as `context`. */
  after: ContextLine[];
}

/** The result of a search for lines. */
export interface GrepResult {
  /** The matching lines, grouped by file, in name order. */
  matches: GrepMatch[];
  /** There are more than the limit allows. */
  truncated: boolean;
  /** The number of files that were searched. */
  files: number;
  /** The number of binary files, which are not searched. */
  binary: number;
  /** The number of files that can't be read or have lines that are too long. */
  skipped: number;
}

/** Options of every file operation. */
export interface OperationOptions {
  /** Stops waiting for the operation. It then rejects with a `FileError` of the code `interrupted`. */
  signal?: AbortSignal;
}

export interface ReadOptions extends OperationOptions {
  /** The number of the first line, counted from 1. */
  offset?: number;
  /** The number of lines. At most 2,000 lines and 50 KiB are returned. */
  limit?: number;
}

export interface WriteOptions extends OperationOptions {
  /** `"create"`, the default, fails if the file exists. `"overwrite"` replaces it atomically. */
  mode?: "create" | "overwrite" | "append";
}

export interface EditOptions extends OperationOptions {
  /** Replaces every occurrence. Otherwise the text must occur once. */
  all?: boolean;
}

export interface GlobOptions extends OperationOptions {
  /** The directory to search. */
  path?: string;
  /** Includes names that begin with a dot. */
  hidden?: boolean;
  /** Finds files only, and no directories. */
  filesOnly?: boolean;
  maxResults?: number;
}

export interface GrepOptions extends OperationOptions {
  /** The directory or the file to search. */
  path?: string;
  /** Restricts the search to files that match a pattern. */
  glob?: string;
  /** The pattern is a regular expression. */
  regex?: boolean;
  /** Includes names that begin with a dot. */
  hidden?: boolean;
  /** The number of lines before and after each match; at most 100. */
  context?: number;
  maxMatches?: number;
}

/** Converts the entry of a listing. */
export function fileInfo(entry: Omit<FileInfo, "modified"> & { modified: number | null }): FileInfo {
  return { ...entry, modified: entry.modified === null ? null : new Date(entry.modified) };
}
