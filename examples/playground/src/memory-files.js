// The io dir inside the worker: the shim's files in memory, with what it lacks, and word of each change for the page.
//
// The module walks paths itself and opens one name at a time, relative to an open folder.

import { Directory, Inode, OpenDirectory, OpenFile, wasi } from "@bjorn3/browser_wasi_shim";
import { Content } from "./content.js";

/** What all files together may take, and whom changes are told. The host is the authority: the module is not trusted to count. */
export class Ledger {
  #limit;
  #entryCost;
  #used = 0;

  constructor(limit, entryCost, tell) {
    this.#limit = limit;
    this.#entryCost = entryCost;
    this.tell = tell;
  }

  takeEntry() {
    return this.take(this.#entryCost);
  }

  giveEntry() {
    this.give(this.#entryCost);
  }

  take(bytes) {
    if (this.#used + bytes > this.#limit) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes) {
    this.#used -= bytes;
  }
}

class StoredFile extends Inode {
  #ledger;
  #content;
  #handles = 0;
  // Not there any more once the file was removed; who has it open may go on.
  #path;
  #isNew;

  constructor(ledger, path, bytes, isNew) {
    super();
    this.#ledger = ledger;
    this.#path = path;
    this.#content = new Content(bytes);
    this.#isNew = isNew;
  }

  // `OpenFile` reads by these two.
  get data() {
    return this.#content.bytes;
  }

  get size() {
    return BigInt(this.#content.length);
  }

  stat() {
    return new wasi.Filestat(this.ino, wasi.FILETYPE_REGULAR_FILE, this.size);
  }

  path_open(oflags, _rights, flags) {
    const append = (flags & wasi.FDFLAGS_APPEND) !== 0;
    // Told here and not where it is made, as only an open says whether it is made for appending.
    if (this.#isNew) this.#ledger.tell({ op: "create", path: this.#path, append });
    this.#isNew = false;
    if (oflags & wasi.OFLAGS_TRUNC) this.resize(0);
    this.#handles += 1;
    return { ret: wasi.ERRNO_SUCCESS, fd_obj: new OpenStoredFile(this, append) };
  }

  /** @returns {number} an error number */
  write(offset, bytes, append) {
    if (!this.#grow(offset + bytes.length)) return wasi.ERRNO_NOSPC;
    this.#content.write(offset, bytes);
    this.#tell({ op: "write", offset, bytes, append });
    return wasi.ERRNO_SUCCESS;
  }

  resize(size) {
    const before = this.#content.length;
    if (!this.#grow(size)) return wasi.ERRNO_NOSPC;
    if (size < before) this.#ledger.give(before - size);
    this.#content.resize(size);
    this.#tell({ op: "resize", size, append: false });
    return wasi.ERRNO_SUCCESS;
  }

  close() {
    this.#handles -= 1;
    this.#settle();
  }

  unlink() {
    this.#tell({ op: "remove", append: false });
    this.#path = undefined;
    this.#settle();
  }

  // Before memory is allocated: a size of 2^60 is no more than a number that a script made up.
  #grow(size) {
    return size <= this.#content.length || this.#ledger.take(size - this.#content.length);
  }

  // A removed file takes memory for as long as somebody has it open.
  #settle() {
    if (this.#path !== undefined || this.#handles > 0) return;
    this.#ledger.give(this.#content.length);
    this.#ledger.giveEntry();
  }

  #tell(change) {
    if (this.#path !== undefined) this.#ledger.tell({ ...change, path: this.#path });
  }
}

class OpenStoredFile extends OpenFile {
  #append;

  constructor(file, append) {
    super(file);
    this.#append = append;
  }

  // The shim goes to the end when it opens for appending, and then writes wherever it is.
  fd_write(bytes) {
    if (this.#append) this.file_pos = this.file.size;
    const written = this.fd_pwrite(bytes, this.file_pos);
    this.file_pos += BigInt(written.nwritten);
    return written;
  }

  // The shim makes a new array for each write behind the end, of any size that it is asked for.
  fd_pwrite(bytes, offset) {
    const ret = this.file.write(Number(offset), bytes, this.#append);
    return { ret, nwritten: ret === wasi.ERRNO_SUCCESS ? bytes.length : 0 };
  }

  // The same here.
  fd_filestat_set_size(size) {
    return this.file.resize(Number(size));
  }

  fd_close() {
    this.file.close();
    return wasi.ERRNO_SUCCESS;
  }
}

class Folder extends Directory {
  #ledger;
  #path;

  constructor(ledger, path) {
    super(new Map());
    this.#ledger = ledger;
    this.#path = path;
  }

  // The shim opens a folder as a file to be written, too.
  path_open(oflags) {
    const asFolder = (oflags & wasi.OFLAGS_DIRECTORY) !== 0;
    if (!asFolder && oflags & (wasi.OFLAGS_CREAT | wasi.OFLAGS_TRUNC)) return { ret: wasi.ERRNO_ISDIR, fd_obj: null };
    return { ret: wasi.ERRNO_SUCCESS, fd_obj: new OpenFolder(this) };
  }

  // The shim would make files and folders of its own kinds, without an end.
  create_entry_for_path(name, isFolder) {
    if (name.includes("/") || name === "." || name === "..") return { ret: wasi.ERRNO_NOTCAPABLE, entry: null };
    if (!this.#ledger.takeEntry()) return { ret: wasi.ERRNO_NOSPC, entry: null };
    const path = this.#path === "" ? name : `${this.#path}/${name}`;
    if (isFolder) this.#ledger.tell({ op: "folder", path });
    return { ret: wasi.ERRNO_SUCCESS, entry: this.#add(name, path, isFolder, undefined, true) };
  }

  /** Puts there what the page has already. */
  restore(path, bytes) {
    const names = path.split("/");
    const name = names.pop();
    const folder = names.reduce((inside, next) => inside.contents.get(next), this);
    if (!this.#ledger.takeEntry() || !this.#ledger.take(bytes?.length ?? 0)) throw new Error("the files are more than they may be");
    folder.#add(name, path, bytes === undefined, bytes, false);
  }

  #add(name, path, isFolder, bytes, isNew) {
    const entry = isFolder ? new Folder(this.#ledger, path) : new StoredFile(this.#ledger, path, bytes, isNew);
    if (isFolder) entry.parent = this;
    this.contents.set(name, entry);
    return entry;
  }
}

class OpenFolder extends OpenDirectory {
  #entries;

  // The shim copies the whole folder for each name in it, and loses its place when a file is removed meanwhile.
  fd_readdir_single(cookie) {
    if (cookie === 0n || this.#entries === undefined) this.#entries = [...this.dir.contents];
    if (cookie < 2n) return super.fd_readdir_single(cookie);
    const entry = this.#entries[Number(cookie - 2n)];
    if (entry === undefined) return { ret: wasi.ERRNO_SUCCESS, dirent: null };
    const [name, inode] = entry;
    return { ret: wasi.ERRNO_SUCCESS, dirent: new wasi.Dirent(cookie + 1n, inode.ino, name, inode.stat().filetype) };
  }

  // The shim says that it has made a folder which was there, and that a file is no folder; both are EEXIST.
  path_create_directory(name) {
    if (this.path_lookup(name, 0).inode_obj !== null) return wasi.ERRNO_EXIST;
    return this.dir.create_entry_for_path(name, true).ret;
  }

  // Once more than the shim does: the page is told, and the space is given back.
  path_unlink_file(name) {
    const file = this.path_lookup(name, 0).inode_obj;
    const ret = super.path_unlink_file(name);
    if (ret === wasi.ERRNO_SUCCESS) file.unlink();
    return ret;
  }
}

/** The folder that the module is given. The shim's own class for this makes a folder of its own kind. */
export class GrantedFolder extends OpenFolder {
  /** @param {{ folders: string[], files: [string, Uint8Array][] }} snapshot of a `FileStore` */
  constructor(ledger, snapshot) {
    const root = new Folder(ledger, "");
    for (const path of snapshot.folders) root.restore(path);
    for (const [path, bytes] of snapshot.files) root.restore(path, bytes);
    super(root);
  }

  fd_prestat_get() {
    return { ret: wasi.ERRNO_SUCCESS, prestat: wasi.Prestat.dir(".") };
  }
}
