// The numbers by which preview1 tells why something is refused.

export const ERRNO = {
  success: 0,
  access: 2,
  badDescriptor: 8,
  fault: 21,
  loop: 32,
  tooManyOpen: 33,
  notFolder: 54,
  notCapable: 76,
};

/** Ends a call of the guest's with this number. */
export class Refusal extends Error {
  constructor(number) {
    super(`refused (${number})`);
    this.number = number;
  }
}
