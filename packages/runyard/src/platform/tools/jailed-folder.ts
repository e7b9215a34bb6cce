import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, realpath, rename, unlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { errorCode } from '../../core/errors/error-code.js';
import { newId } from '../../core/ids.js';

/** A path that leads where it may not. The message says why. */
class PathRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PathRefused';
  }
}

export interface FolderEntry {
  /** Below the root, with `/`. */
  readonly path: string;
  readonly kind: 'file' | 'folder';
}

/**
 * A folder that nothing leads out of: no absolute path, no `..`, no link to elsewhere, nothing but plain files and
 * folders. Hidden names (`.env`, `.git`) do not exist in it unless they are asked for.
 */
export class JailedFolder {
  #realRoot: Promise<string> | undefined;

  constructor(
    private readonly root: string,
    private readonly showHidden: boolean,
  ) {}

  /** The entries of one folder, sorted; links and other special entries left out. */
  async entries(path: string): Promise<readonly FolderEntry[]> {
    const folder = await this.#locate(path);
    const below = await this.#below(folder);
    const found = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      throw mended(error, path);
    });
    return found
      .filter((entry) => (entry.isFile() || entry.isDirectory()) && this.#isShown(entry.name))
      .map((entry) => ({
        path: below === '' ? entry.name : `${below}/${entry.name}`,
        kind: entry.isDirectory() ? ('folder' as const) : ('file' as const),
      }))
      .sort((first, second) => (first.path < second.path ? -1 : 1));
  }

  /** Reads up to `length` bytes from `offset` on. */
  async read(path: string, offset: number, length: number): Promise<{ bytes: Uint8Array; size: number }> {
    const real = await this.#locate(path);
    const file = await openPlainFile(real);
    try {
      // The path was checked before it was opened; another look shows whether it still leads there.
      const stats = await file.stat();
      if (!stats.isFile()) throw new PathRefused(`'${path}' is not a file.`);
      if (!(await leadsTo(real, stats))) throw new PathRefused(`'${path}' changed while it was read.`);
      const wanted = Math.max(Math.min(length, stats.size - offset), 0);
      const { bytesRead, buffer } = await file.read(Buffer.alloc(wanted), 0, wanted, offset);
      return { bytes: buffer.subarray(0, bytesRead), size: stats.size };
    } finally {
      await file.close();
    }
  }

  /** Writes a whole file: it has its old content or its new one, never a part. */
  async write(path: string, content: string): Promise<'created' | 'replaced'> {
    const names = this.#names(path);
    const name = names.pop();
    if (name === undefined) throw new PathRefused('Name a file.');
    const folder = await this.#makeFolders(names);
    const target = join(folder, name);
    const old = await lstat(target).catch(() => undefined);
    if (old !== undefined && !old.isFile()) throw new PathRefused(`'${path}' is not a file.`);
    const draft = join(folder, `.${newId()}.draft`);
    const file = await open(draft, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o644);
    try {
      await file.writeFile(content);
      await file.close();
      await rename(draft, target);
    } catch (error) {
      await file.close().catch(() => {});
      await unlink(draft).catch(() => {});
      throw mended(error, path);
    }
    return old === undefined ? 'created' : 'replaced';
  }

  /** Where a path really leads; refuses those that lead out. */
  async #locate(path: string): Promise<string> {
    const root = await this.#real();
    const names = this.#names(path);
    let real: string;
    try {
      real = await realpath(join(root, ...names));
    } catch (error) {
      throw mended(error, path);
    }
    if (
      !isInside(root, real) ||
      !relative(root, real)
        .split(sep)
        .every((name) => this.#isShown(name))
    )
      throw new PathRefused(`'${shorten(path)}' leads out of the folder.`);
    return real;
  }

  /** The names that a path consists of. */
  #names(path: string): string[] {
    const normal = sep === '\\' ? path.replaceAll('\\', '/') : path;
    if (
      isAbsolute(path) ||
      normal.startsWith('/') ||
      normal.includes('\0') ||
      (sep === '\\' && path.includes(':'))
    )
      throw new PathRefused(
        `'${shorten(path)}' is not a path below the folder. Give one such as notes/plan.md.`,
      );
    const names = normal.split('/').filter((name) => name !== '' && name !== '.');
    if (names.includes('..'))
      throw new PathRefused(`'${shorten(path)}' leads out of the folder: leave out '..'.`);
    const unseen = names.find((name) => !this.#isShown(name));
    if (unseen !== undefined) throw new PathRefused(`There is no '${shorten(path)}'.`);
    return names;
  }

  /** Goes down name by name, so that no link on the way makes a folder elsewhere. */
  async #makeFolders(names: readonly string[]): Promise<string> {
    const root = await this.#real();
    let folder = root;
    for (const name of names) {
      const next = join(folder, name);
      await mkdir(next).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
      const real = await realpath(next);
      if (!isInside(root, real) || !(await lstat(real)).isDirectory())
        throw new PathRefused(`'${shorten(names.join('/'))}' is not a folder below the root.`);
      folder = real;
    }
    return folder;
  }

  async #below(real: string): Promise<string> {
    return relative(await this.#real(), real).replaceAll(sep, '/');
  }

  #isShown(name: string): boolean {
    return this.showHidden || !name.startsWith('.');
  }

  #real(): Promise<string> {
    this.#realRoot ??= realpath(this.root).catch((error: unknown) => {
      this.#realRoot = undefined;
      throw new Error(
        `The folder ${this.root} cannot be read: ${codeOf(error)}. Create it, or name another one.`,
      );
    });
    return this.#realRoot;
  }
}

function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** Opens without following a link in the last place and without waiting for the other end of a pipe. */
function openPlainFile(path: string): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  return open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
}

async function leadsTo(path: string, opened: Stats): Promise<boolean> {
  const [real, now] = await Promise.all([realpath(dirname(path)), lstat(path)]);
  return real === dirname(path) && now.ino === opened.ino && now.dev === opened.dev;
}

function mended(error: unknown, path: string): Error {
  const code = codeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return new PathRefused(`There is no '${shorten(path)}'.`);
  return new PathRefused(`'${shorten(path)}' cannot be opened: ${code}.`);
}

/** The code only: the message of the system holds the real path. */
function codeOf(error: unknown): string {
  return errorCode(error) ?? 'unknown error';
}

function shorten(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}
