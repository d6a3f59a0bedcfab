/** The check of a script before it runs. */

/** The treatment of mistakes: a script with an error does not run (`"errors"`), or runs and reports them (`"warn"`). */
export type CheckMode = "off" | "errors" | "warn";

/** A mistake in a script. */
export interface Diagnostic {
  /** `"error"` if the code is certainly wrong, `"note"` if it is probably wrong. */
  severity: "error" | "note";
  /** The line in which the wrong code begins, counted from 1. */
  line: number;
  /** The column in which it begins, in characters, counted from 1. */
  column: number;
  /** The number of characters that it takes in that line. 0 if that is not known, or if it continues in the next line. */
  length: number;
  /** The mistake, with the nearest right name if there is one. */
  message: string;
}

/** The options of a check. */
export interface CheckOptions {
  /** The table `env` that the script will have. Only a script that has one can read it. */
  env?: Record<string, string>;
}
