import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** How many files are kept. Of a source, there is only the newest one: more are those of sources that are gone. */
export const mostKept = 1_000;

/** Where the code of a source is kept, or will be. */
export interface KeptPlace {
  readonly folder: string;
  /** Begins with that of its source. A source of another content has another name. */
  readonly name: string;
  readonly sourceName: string;
  /** Who may have written it: the owner of the source could change what is executed in any case, and so could root. */
  readonly owners: ReadonlySet<number>;
}

/**
 * In the nearest `node_modules`, which projects keep out of their history; undefined where there is none. One that is a
 * link belongs to several projects. `maker` is what else the code depends on.
 */
export function placeOf(
  path: string,
  text: string,
  maker: string,
  form: 'stripped' | 'modules' = 'stripped',
): KeptPlace | undefined {
  try {
    const packages = nearestPackages(dirname(path));
    if (packages === undefined) return undefined;
    const sourceName = hashOf(path).slice(0, 16);
    return {
      folder: join(packages, '.cache/runyard', form),
      name: `${sourceName}-${hashOf(JSON.stringify([path, maker, text]))}.mjs`,
      sourceName,
      owners: new Set([0, process.getuid?.() ?? 0, statSync(path).uid]),
    };
  } catch {
    // a process with Node's permissions may not look at the folders above
    return undefined;
  }
}

function nearestPackages(folder: string): string | undefined {
  const packages = join(folder, 'node_modules');
  const found = lstatSync(packages, { throwIfNoEntry: false });
  if (found !== undefined) return found.isDirectory() ? packages : undefined;
  const parent = dirname(folder);
  return parent === folder ? undefined : nearestPackages(parent);
}

/** What an earlier process has kept, unless another user could have written it, or it is damaged. */
export function keptCode({ folder, name, owners }: KeptPlace): string | undefined {
  let file: number | undefined;
  try {
    if (!isOwn(lstatSync(folder), owners)) return undefined;
    // a link would lead to a file of another folder
    file = openSync(join(folder, name), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    if (!isOwn(fstatSync(file), owners)) return undefined;
    const content = readFileSync(file, 'utf8');
    const code = content.slice(sealLength);
    return sealOf(code) === content.slice(0, sealLength) ? code : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Keeps code for later processes. Where that fails, each start strips the types. */
export function keepCode({ folder, name, sourceName, owners }: KeptPlace, code: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    if (!isOwn(lstatSync(folder), owners)) return;
    replace(folder, name, sealOf(code) + code);
    removeOthers(folder, name, sourceName);
  } catch {
    // nothing is kept
  }
}

function replace(folder: string, name: string, content: string): void {
  const written = join(folder, `${name}.${randomBytes(6).toString('hex')}`);
  try {
    writeFileSync(written, content, { mode: 0o644, flag: 'wx' });
    renameSync(written, join(folder, name));
  } catch (error) {
    // each start on a full disk would leave a part of it
    rmSync(written, { force: true });
    throw error;
  }
}

/** What the source had been before, and the oldest ones beyond the bound. */
function removeOthers(folder: string, kept: string, sourceName: string): void {
  const names = readdirSync(folder).filter((name) => name !== kept);
  const earlier = names.filter((name) => name.startsWith(sourceName));
  const others = names.filter((name) => !name.startsWith(sourceName));
  const beyond = others.length >= mostKept ? oldest(folder, others, others.length - mostKept + 1) : [];
  for (const name of [...earlier, ...beyond]) rmSync(join(folder, name), { force: true });
}

function oldest(folder: string, names: readonly string[], amount: number): string[] {
  return names
    .map((name) => ({ name, at: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => a.at - b.at)
    .slice(0, amount)
    .map(({ name }) => name);
}

/** Nobody but an owner can write to it. Where Node knows no users, the folder has the permissions of `node_modules`. */
function isOwn(found: Stats, owners: ReadonlySet<number>): boolean {
  if (found.isSymbolicLink()) return false;
  return process.getuid === undefined || (owners.has(found.uid) && (found.mode & 0o022) === 0);
}

/** Before the code: a comment, so that Node can import the file as it is. */
function sealOf(code: string): string {
  return `/*${hashOf(code)}*/`;
}

const sealLength = sealOf('').length;

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
