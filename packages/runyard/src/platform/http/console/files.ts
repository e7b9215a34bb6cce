import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const types: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
]);

export interface ConsoleFile {
  readonly content: Buffer;
  readonly compressed: Buffer;
  readonly type: string;
  readonly etag: string;
}

const compress = promisify(gzip);
const files = new Map<string, Promise<ConsoleFile | undefined>>();

/** Names that the build gives. Nothing else is looked for on the disk. */
const nameOfFile = /^(?:assets\/)?[\w-][\w.-]*$/;

/** A file of the console, read and compressed at its first use; undefined if the build made none with this name. */
export async function consoleFile(name: string): Promise<ConsoleFile | undefined> {
  const type = types.get(extname(name));
  if (type === undefined || !nameOfFile.test(name)) return undefined;
  const known = files.get(name) ?? read(name, type);
  files.set(name, known);
  const file = await known;
  // names come from requests: those of no file are not kept
  if (file === undefined) files.delete(name);
  return file;
}

async function read(name: string, type: string): Promise<ConsoleFile | undefined> {
  const content = await readFile(`${folder()}${name}`).catch(() => undefined);
  return content && madeOf(content, type);
}

export async function madeOf(content: Buffer, type: string): Promise<ConsoleFile> {
  const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
  return { content, type, etag, compressed: await compress(content, { level: 9 }) };
}

/** The bundle has it beside its chunks; the compiled modules and the sources use that of the bundle. */
function folder(): string {
  const own = new URL('../console/', import.meta.url);
  const found = existsSync(new URL('index.html', own))
    ? own
    : new URL('../../../../bundle/console/', import.meta.url);
  return fileURLToPath(found);
}
