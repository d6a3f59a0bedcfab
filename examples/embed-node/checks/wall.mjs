// The wall, as a guest meets it that is broken open: it makes any call with any parameters. Here the calls are made without a guest.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { WASI } from "node:wasi";

import { ERRNO } from "../errno.mjs";
import { Lines } from "../lines.mjs";
import { Streams } from "../streams.mjs";
import { Wall } from "../wall.mjs";
import { expect, withDirectory } from "./expect.mjs";
import { expectUntouched, plant } from "./files.mjs";

const DIRECTORY = 3;
const FOLLOW = 1;
const READ = 2n;
const WRITE = 64n;
const CREATE = 1;
const EMPTY = 8;
// Where the pieces lie in the memory.
const NAME = 1024;
const ANSWER = 512;
const RECORD = 4096;

export async function brokenGuest() {
  let calls = 0;
  await withDirectory(async (folder, outside) => {
    await plant(folder, outside);
    const before = readdirSync("/dev/fd").length;
    const lines = new Lines();
    const guest = new Guest(folder, new Streams(Buffer.from("input"), lines));
    const refuse = (answer, expected, what) => {
      calls += 1;
      expect(answer, expected, what);
    };
    for (const name of ["link", "relative", "to-inside", "nowhere", "home"]) {
      for (const flags of [0, FOLLOW]) {
        for (const [rights, open] of [[READ, 0], [READ | WRITE, 0], [WRITE, CREATE], [WRITE, CREATE | EMPTY]]) {
          refuse(guest.open(name, { flags, rights, open }), ERRNO.loop, `path_open of ${name}`);
        }
      }
    }
    refuse(guest.open("fifo"), ERRNO.access, "path_open of a FIFO");
    for (const name of ["..", ".", "", "/", "../secret", "home/secret", "a/../../secret", "/etc/passwd", join(outside, "secret"), "inside\0", "../files/inside"]) {
      refuse(guest.open(name), ERRNO.notCapable, `path_open of ${name}`);
      refuse(guest.named("path_unlink_file", name), ERRNO.notCapable, `path_unlink_file of ${name}`);
      refuse(guest.named("path_create_directory", name), ERRNO.notCapable, `path_create_directory of ${name}`);
      refuse(guest.look(name), ERRNO.notCapable, `path_filestat_get of ${name}`);
    }
    expect([guest.look("link", FOLLOW), guest.typeLookedAt()], [ERRNO.success, 7], "a link is a link, also to who would follow it");
    for (const stream of [0, 1, 2]) {
      for (const [name, ...rest] of [["fd_close"], ["fd_filestat_set_size", 0n], ["fd_pwrite", 0, 0, 0n, ANSWER], ["fd_filestat_get", RECORD], ["fd_prestat_get", RECORD]]) {
        refuse(guest.call(name, stream, ...rest), ERRNO.badDescriptor, `${name} of a standard stream`);
      }
    }
    refuse(guest.call("fd_write", 0, 0, 0, ANSWER), ERRNO.badDescriptor, "fd_write of standard input");
    refuse(guest.call("fd_read", 1, 0, 0, ANSWER), ERRNO.badDescriptor, "fd_read of standard output");
    for (const [pointer, length] of [[-1, 10], [65530, 10], [0, -1]]) {
      refuse(guest.call("path_open", DIRECTORY, 0, pointer, length, 0, READ, 0n, 0, ANSWER), ERRNO.fault, "a name beside the memory");
    }
    refuse(guest.call("fd_write", 2, -8, 1, ANSWER), ERRNO.fault, "buffers beside the memory");
    refuse(guest.call("fd_write", 2, 0, 1 << 20, ANSWER), ERRNO.fault, "a million buffers");
    guest.vector(NAME, 65_000);
    for (let count = 0; count < 1000; count += 1) guest.call("fd_write", 2, RECORD, 1, ANSWER);
    guest.flush();
    expect(lines.all().reduce((sum, line) => sum + line.length, 0) < 8 << 20, true, "what a guest prints without end");
    let opened = 0;
    while (guest.open("inside") === ERRNO.success) opened += 1;
    expect([opened, guest.open("inside")], [252, ERRNO.tooManyOpen], "files without end");
    guest.close();
    expect(existsSync(join(outside, "made")), false, "a file behind a link");
    await expectUntouched(folder, outside);
    expect(readdirSync("/dev/fd").length, before, "descriptors that stay open");
  });
  expect(Object.keys(new Guest(undefined, undefined).imports).filter((name) => /environ|sock|poll|symlink|link$|rename|times/.test(name) && name !== "path_unlink_file"), [], "what there is to call");
  return `a guest that is broken open: ${calls} calls that the wall refuses`;
}

class Guest {
  #memory = new WebAssembly.Memory({ initial: 1 });
  #wall;
  #streams;

  constructor(folder, streams) {
    const wasi = new WASI({ version: "preview1", env: {}, preopens: folder === undefined ? {} : { "/": folder } });
    wasi.finalizeBindings({ exports: {} }, { memory: this.#memory });
    this.#streams = streams;
    this.#wall = new Wall(wasi, streams, folder);
    this.#wall.attach(this.#memory);
    this.imports = this.#wall.imports().wasi_snapshot_preview1;
  }

  call(name, ...parameters) {
    return this.imports[name](...parameters);
  }

  open(name, { flags = 0, rights = READ, open = 0 } = {}) {
    return this.call("path_open", DIRECTORY, flags, NAME, this.#put(name), open, rights, 0n, 0, ANSWER);
  }

  named(call, name) {
    return this.call(call, DIRECTORY, NAME, this.#put(name));
  }

  look(name, flags = 0) {
    return this.call("path_filestat_get", DIRECTORY, flags, NAME, this.#put(name), RECORD);
  }

  typeLookedAt() {
    return new DataView(this.#memory.buffer).getUint8(RECORD + 16);
  }

  /** A buffer to write from. */
  vector(pointer, length) {
    const view = new DataView(this.#memory.buffer);
    view.setUint32(RECORD, pointer, true);
    view.setUint32(RECORD + 4, Math.min(length, this.#memory.buffer.byteLength - pointer), true);
  }

  flush() {
    this.#streams.flush();
  }

  close() {
    this.#wall.close();
  }

  #put(name) {
    const bytes = Buffer.from(name);
    new Uint8Array(this.#memory.buffer).set(bytes, NAME);
    return bytes.length;
  }
}
