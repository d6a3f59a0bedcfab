// The io directory inside the worker: the in-memory files of the shim, with a quota, fixes for its bugs, and a notification of each change.
//
// The module resolves paths itself and opens one component at a time, relative to an open directory.

import { Directory, Inode, OpenDirectory, OpenFile, wasi } from "@bjorn3/browser_wasi_shim";
import { FileContent } from "./file-content.js";

/** Limits the size of all files together. The host enforces this, because the module is not trusted. */
export class StorageQuota {
  #limit;
  #entryCost;
  #used = 0;

  constructor(limit, entryCost) {
    this.#limit = limit;
    this.#entryCost = entryCost;
  }

  reserveEntry() {
    return this.reserve(this.#entryCost);
  }

  releaseEntry() {
    this.release(this.#entryCost);
  }

  /** Returns `false` if the quota would be exceeded. */
  reserve(bytes) {
    if (this.#used + bytes > this.#limit) return false;
    this.#used += bytes;
    return true;
  }

  release(bytes) {
    this.#used -= bytes;
  }
}

class StoredFile extends Inode {
  #quota;
  #onChange;
  #content;
  #handles = 0;
  // Undefined once the file was removed. It can still be open.
  #path;
  #isNew;

  constructor(quota, onChange, path, bytes, isNew) {
    super();
    this.#quota = quota;
    this.#onChange = onChange;
    this.#path = path;
    this.#content = new FileContent(bytes);
    this.#isNew = isNew;
  }

  // `OpenFile` reads `data` and `size`.
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
    // Reported here and not on creation, because only the open knows whether the file is created for appending.
    if (this.#isNew) this.#onChange({ op: "create-file", path: this.#path, append });
    this.#isNew = false;
    if (oflags & wasi.OFLAGS_TRUNC) this.resize(0);
    this.#handles += 1;
    return { ret: wasi.ERRNO_SUCCESS, fd_obj: new OpenStoredFile(this, append) };
  }

  /** @returns {number} an error number */
  write(offset, bytes, append) {
    if (!this.#reserve(offset + bytes.length)) return wasi.ERRNO_NOSPC;
    this.#content.write(offset, bytes);
    this.#report({ op: "write", offset, bytes, append });
    return wasi.ERRNO_SUCCESS;
  }

  resize(size) {
    const before = this.#content.length;
    if (!this.#reserve(size)) return wasi.ERRNO_NOSPC;
    if (size < before) this.#quota.release(before - size);
    this.#content.resize(size);
    this.#report({ op: "resize", size, append: false });
    return wasi.ERRNO_SUCCESS;
  }

  close() {
    this.#handles -= 1;
    this.#releaseIfUnused();
  }

  unlink() {
    this.#report({ op: "remove", append: false });
    this.#path = undefined;
    this.#releaseIfUnused();
  }

  /** Moves the file to another path. It is reported as removed, then created with its contents. */
  rename(path) {
    this.#report({ op: "remove", append: false });
    this.#path = path;
    this.#report({ op: "create-file", append: false });
    this.#report({ op: "write", offset: 0, bytes: this.#content.bytes.slice(), append: false });
  }

  // Called before memory is allocated: a script can ask for a size of 2^60.
  #reserve(size) {
    return size <= this.#content.length || this.#quota.reserve(size - this.#content.length);
  }

  // A removed file uses memory until its last handle is closed.
  #releaseIfUnused() {
    if (this.#path !== undefined || this.#handles > 0) return;
    this.#quota.release(this.#content.length);
    this.#quota.releaseEntry();
  }

  #report(change) {
    if (this.#path !== undefined) this.#onChange({ ...change, path: this.#path });
  }
}

class OpenStoredFile extends OpenFile {
  #append;

  constructor(file, append) {
    super(file);
    this.#append = append;
  }

  // The shim seeks to the end only when it opens a file for appending, not before each write.
  fd_write(bytes) {
    if (this.#append) this.file_pos = this.file.size;
    const written = this.fd_pwrite(bytes, this.file_pos);
    this.file_pos += BigInt(written.nwritten);
    return written;
  }

  // The shim allocates an array of any requested size, and a new one for each write past the end.
  fd_pwrite(bytes, offset) {
    const ret = this.file.write(Number(offset), bytes, this.#append);
    return { ret, nwritten: ret === wasi.ERRNO_SUCCESS ? bytes.length : 0 };
  }

  // The shim allocates an array of any requested size here, too.
  fd_filestat_set_size(size) {
    return this.file.resize(Number(size));
  }

  fd_close() {
    this.file.close();
    return wasi.ERRNO_SUCCESS;
  }
}

class StoredDirectory extends Directory {
  #quota;
  #onChange;
  #path;

  constructor(quota, onChange, path) {
    super(new Map());
    this.#quota = quota;
    this.#onChange = onChange;
    this.#path = path;
  }

  // The shim allows a directory to be opened as a file for writing.
  path_open(oflags) {
    const asDirectory = (oflags & wasi.OFLAGS_DIRECTORY) !== 0;
    if (!asDirectory && oflags & (wasi.OFLAGS_CREAT | wasi.OFLAGS_TRUNC)) return { ret: wasi.ERRNO_ISDIR, fd_obj: null };
    return { ret: wasi.ERRNO_SUCCESS, fd_obj: new OpenStoredDirectory(this) };
  }

  // The shim would create files and directories of its own classes, without a limit.
  create_entry_for_path(name, isDirectory) {
    if (name.includes("/") || name === "." || name === "..") return { ret: wasi.ERRNO_NOTCAPABLE, entry: null };
    if (!this.#quota.reserveEntry()) return { ret: wasi.ERRNO_NOSPC, entry: null };
    const path = this.#path === "" ? name : `${this.#path}/${name}`;
    if (isDirectory) this.#onChange({ op: "create-directory", path });
    return { ret: wasi.ERRNO_SUCCESS, entry: this.#add(name, path, isDirectory, undefined, true) };
  }

  /** Moves a file to another directory. Replaces a file there. */
  move(name, target, newName) {
    const file = this.contents.get(name);
    const replaced = target.contents.get(newName);
    if (file === replaced) return;
    replaced?.unlink();
    this.contents.delete(name);
    target.contents.set(newName, file);
    file.rename(target.#path === "" ? newName : `${target.#path}/${newName}`);
  }

  /** Adds a file or directory of the page without reporting a change. */
  restore(path, bytes) {
    const names = path.split("/");
    const name = names.pop();
    const parent = names.reduce((directory, next) => directory.contents.get(next), this);
    if (!this.#quota.reserveEntry() || !this.#quota.reserve(bytes?.length ?? 0)) throw new Error("the files exceed the storage quota");
    parent.#add(name, path, bytes === undefined, bytes, false);
  }

  #add(name, path, isDirectory, bytes, isNew) {
    const entry = isDirectory
      ? new StoredDirectory(this.#quota, this.#onChange, path)
      : new StoredFile(this.#quota, this.#onChange, path, bytes, isNew);
    if (isDirectory) entry.parent = this;
    this.contents.set(name, entry);
    return entry;
  }
}

class OpenStoredDirectory extends OpenDirectory {
  #entries;

  // The shim copies the whole directory for each name, and loses its position when a file is removed in between.
  fd_readdir_single(cookie) {
    if (cookie === 0n || this.#entries === undefined) this.#entries = [...this.dir.contents];
    if (cookie < 2n) return super.fd_readdir_single(cookie);
    const entry = this.#entries[Number(cookie - 2n)];
    if (entry === undefined) return { ret: wasi.ERRNO_SUCCESS, dirent: null };
    const [name, inode] = entry;
    return { ret: wasi.ERRNO_SUCCESS, dirent: new wasi.Dirent(cookie + 1n, inode.ino, name, inode.stat().filetype) };
  }

  // The shim reports success for an existing directory, and ENOTDIR for an existing file. Both are EEXIST.
  path_create_directory(name) {
    if (this.path_lookup(name, 0).inode_obj !== null) return wasi.ERRNO_EXIST;
    return this.dir.create_entry_for_path(name, true).ret;
  }

  // The shim does not rename. The module renames files only.
  path_rename(name, target, newName) {
    const isInvalid = (text) => text === "" || text.includes("/") || text === "." || text === "..";
    if (isInvalid(name) || isInvalid(newName) || !(target instanceof OpenStoredDirectory)) return wasi.ERRNO_NOTCAPABLE;
    const file = this.dir.contents.get(name);
    if (file === undefined) return wasi.ERRNO_NOENT;
    const replaced = target.dir.contents.get(newName);
    if (file instanceof StoredDirectory || replaced instanceof StoredDirectory) return wasi.ERRNO_ISDIR;
    this.dir.move(name, target.dir, newName);
    return wasi.ERRNO_SUCCESS;
  }

  // Also reports the change and releases the storage.
  path_unlink_file(name) {
    const file = this.path_lookup(name, 0).inode_obj;
    const ret = super.path_unlink_file(name);
    if (ret === wasi.ERRNO_SUCCESS) file.unlink();
    return ret;
  }
}

/** The directory that the module can access. The class of the shim for this would use its own kind of directory. */
export class PreopenedDirectory extends OpenStoredDirectory {
  /**
   * @param {StorageQuota} quota
   * @param {(change: object) => void} onChange receives each change, for `FileStore.apply`
   * @param {{ directories: string[], files: [string, Uint8Array][] }} snapshot the contents of a `FileStore`
   */
  constructor(quota, onChange, snapshot) {
    const root = new StoredDirectory(quota, onChange, "");
    for (const path of snapshot.directories) root.restore(path);
    for (const [path, bytes] of snapshot.files) root.restore(path, bytes);
    super(root);
  }

  fd_prestat_get() {
    return { ret: wasi.ERRNO_SUCCESS, prestat: wasi.Prestat.dir(".") };
  }
}
