// WASI preview1 error numbers.

export const ERRNO = {
  success: 0,
  access: 2,
  badDescriptor: 8,
  fault: 21,
  loop: 32,
  tooManyOpen: 33,
  notDirectory: 54,
  notCapable: 76,
};

/** Ends a call from the guest with an error number. */
export class WasiError extends Error {
  constructor(number) {
    super(`WASI error ${number}`);
    this.number = number;
  }
}
