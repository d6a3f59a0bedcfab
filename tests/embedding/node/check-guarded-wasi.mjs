// Calls the guarded imports directly, as a compromised guest could: any call with any parameters.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { WASI } from "node:wasi";

import { ERRNO } from "../../../examples/embed-node/errno.mjs";
import { GuardedWasi } from "../../../examples/embed-node/guarded-wasi.mjs";
import { SharedLog } from "../../../examples/embed-node/shared-log.mjs";
import { StandardStreams } from "../../../examples/embed-node/standard-streams.mjs";
import { createEscapes, expectUnchanged } from "./check-confinement.mjs";
import { expect, withIoDir } from "./expect.mjs";

const IO_DIRECTORY = 3;
const LOOKUP_FOLLOW = 1;
const RIGHT_READ = 2n;
const RIGHT_WRITE = 64n;
const OPEN_CREATE = 1;
const OPEN_TRUNCATE = 8;
const SYMBOLIC_LINK = 7;
// Addresses in the memory of the guest: a path, a result, and a record.
const NAME = 1024;
const RESULT = 512;
const RECORD = 4096;

export async function checkGuardedWasi() {
  let calls = 0;
  await withIoDir(async (ioDir, outside) => {
    await createEscapes(ioDir, outside);
    const before = readdirSync("/dev/fd").length;
    const log = new SharedLog();
    const guest = new CompromisedGuest(ioDir, new StandardStreams(Buffer.from("input"), log));
    const expectErrno = (actual, expected, what) => {
      calls += 1;
      expect(actual, expected, what);
    };
    for (const name of ["link", "relative", "to-inside", "nowhere", "home"]) {
      for (const flags of [0, LOOKUP_FOLLOW]) {
        for (const [rights, open] of [[RIGHT_READ, 0], [RIGHT_READ | RIGHT_WRITE, 0], [RIGHT_WRITE, OPEN_CREATE], [RIGHT_WRITE, OPEN_CREATE | OPEN_TRUNCATE]]) {
          expectErrno(guest.open(name, { flags, rights, open }), ERRNO.loop, `path_open of ${name}`);
        }
      }
    }
    expectErrno(guest.open("fifo"), ERRNO.access, "path_open of a FIFO");
    for (const name of ["..", ".", "", "/", "../secret", "home/secret", "a/../../secret", "/etc/passwd", join(outside, "secret"), "inside\0", "../files/inside"]) {
      expectErrno(guest.open(name), ERRNO.notCapable, `path_open of ${name}`);
      expectErrno(guest.callWithName("path_unlink_file", name), ERRNO.notCapable, `path_unlink_file of ${name}`);
      expectErrno(guest.callWithName("path_create_directory", name), ERRNO.notCapable, `path_create_directory of ${name}`);
      expectErrno(guest.stat(name), ERRNO.notCapable, `path_filestat_get of ${name}`);
    }
    expect([guest.stat("link", LOOKUP_FOLLOW), guest.statType()], [ERRNO.success, SYMBOLIC_LINK], "path_filestat_get does not follow a symlink");
    for (const stream of [0, 1, 2]) {
      for (const [name, ...rest] of [["fd_close"], ["fd_filestat_set_size", 0n], ["fd_pwrite", 0, 0, 0n, RESULT], ["fd_filestat_get", RECORD], ["fd_prestat_get", RECORD]]) {
        expectErrno(guest.call(name, stream, ...rest), ERRNO.badDescriptor, `${name} of a standard stream`);
      }
    }
    expectErrno(guest.call("fd_write", 0, 0, 0, RESULT), ERRNO.badDescriptor, "fd_write of standard input");
    expectErrno(guest.call("fd_read", 1, 0, 0, RESULT), ERRNO.badDescriptor, "fd_read of standard output");
    for (const [pointer, length] of [[-1, 10], [65530, 10], [0, -1]]) {
      expectErrno(guest.call("path_open", IO_DIRECTORY, 0, pointer, length, 0, RIGHT_READ, 0n, 0, RESULT), ERRNO.fault, "name outside of the memory");
    }
    expectErrno(guest.call("fd_write", 2, -8, 1, RESULT), ERRNO.fault, "buffers outside of the memory");
    expectErrno(guest.call("fd_write", 2, 0, 1 << 20, RESULT), ERRNO.fault, "a million buffers");
    guest.setVector(NAME, 65_000);
    for (let count = 0; count < 1000; count += 1) guest.call("fd_write", 2, RECORD, 1, RESULT);
    guest.flush();
    expect(log.lines().reduce((sum, line) => sum + line.length, 0) < 8 << 20, true, "the log of a guest that prints without end is bounded");
    let opened = 0;
    while (guest.open("inside") === ERRNO.success) opened += 1;
    expect([opened, guest.open("inside")], [252, ERRNO.tooManyOpen], "limit on open files");
    guest.close();
    expect(existsSync(join(outside, "made")), false, "no file was created through a dangling symlink");
    await expectUnchanged(ioDir, outside);
    expect(readdirSync("/dev/fd").length, before, "open descriptors afterwards");
  });
  const imports = Object.keys(new CompromisedGuest(undefined, undefined).imports);
  expect(imports.filter((name) => /environ|sock|poll|symlink|link$|times/.test(name) && name !== "path_unlink_file"), [], "imports that must not exist");
  return `compromised guest: ${calls} calls were rejected`;
}

class CompromisedGuest {
  #memory = new WebAssembly.Memory({ initial: 1 });
  #guard;
  #streams;

  constructor(ioDir, streams) {
    const wasi = new WASI({ version: "preview1", env: {}, preopens: ioDir === undefined ? {} : { "/": ioDir } });
    wasi.finalizeBindings({ exports: {} }, { memory: this.#memory });
    this.#streams = streams;
    this.#guard = new GuardedWasi(wasi, streams, ioDir);
    this.#guard.attach(this.#memory);
    this.imports = this.#guard.imports().wasi_snapshot_preview1;
  }

  call(name, ...parameters) {
    return this.imports[name](...parameters);
  }

  open(name, { flags = 0, rights = RIGHT_READ, open = 0 } = {}) {
    return this.call("path_open", IO_DIRECTORY, flags, NAME, this.#setName(name), open, rights, 0n, 0, RESULT);
  }

  callWithName(call, name) {
    return this.call(call, IO_DIRECTORY, NAME, this.#setName(name));
  }

  stat(name, flags = 0) {
    return this.call("path_filestat_get", IO_DIRECTORY, flags, NAME, this.#setName(name), RECORD);
  }

  /** Returns the file type that the last `stat` wrote. */
  statType() {
    return new DataView(this.#memory.buffer).getUint8(RECORD + 16);
  }

  /** Stores an I/O vector at `RECORD`. */
  setVector(pointer, length) {
    const view = new DataView(this.#memory.buffer);
    view.setUint32(RECORD, pointer, true);
    view.setUint32(RECORD + 4, Math.min(length, this.#memory.buffer.byteLength - pointer), true);
  }

  flush() {
    this.#streams.flush();
  }

  close() {
    this.#guard.close();
  }

  /** Stores a path at `NAME` and returns its length. */
  #setName(name) {
    const bytes = Buffer.from(name);
    new Uint8Array(this.#memory.buffer).set(bytes, NAME);
    return bytes.length;
  }
}
