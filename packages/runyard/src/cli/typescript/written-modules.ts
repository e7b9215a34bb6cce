import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { pathOfTypeScript, shared, sourcesOf } from './addresses.js';
import { keepCode, keptCode, placeOf } from './kept-code.js';
import { maker, stripTypes } from './strip-types.js';

type Exports = Record<string, unknown>;

/**
 * A function that is called before any code of the application, and by each written module. It has a name of its own: a
 * module may declare `Symbol`, or even `globalThis`.
 */
const begun = '__runyardModule';

/**
 * The address of an application that was written as modules for Node to load by itself; a module of JavaScript that
 * imports no TypeScript stays where it is. Hooks would need a thread of their own where Node cannot run them in this
 * one: a sixth of a start, and 10 MiB. Undefined when only hooks can import the application.
 */
export function writtenAddress(path: string): Promise<string | undefined> {
  return new WrittenModules().addressOf(path).catch(() => undefined);
}

/** Returns undefined when Node could not load a module, perhaps one of a package; no code has been executed then. */
export async function importWritten(address: string): Promise<Exports | undefined> {
  let executes = false;
  const begin = (meta?: ImportMeta, url = ''): void => {
    executes = true;
    if (meta === undefined) return;
    meta.url = url;
    if (meta.filename === undefined) return;
    const file = fileURLToPath(url);
    Object.assign(meta, { filename: file, dirname: dirname(file) });
  };
  Object.defineProperty(globalThis, begun, { configurable: true, value: begin });
  try {
    // the first import is executed before those of packages, whose code may throw
    const text = `import "data:text/javascript,${begun}()"; import ${JSON.stringify(address)};`;
    await import(`data:text/javascript,${encodeURIComponent(text)}`);
    return await import(address);
  } catch (error) {
    if (executes) throw error;
    // what cannot be loaded is named with its own address, not that of the written module
    return undefined;
  } finally {
    Reflect.deleteProperty(globalThis, begun);
  }
}

/** The modules of an application, each with the addresses of those that it imports. */
class WrittenModules {
  readonly #addresses = new Map<string, string | undefined>();

  async addressOf(path: string): Promise<string | undefined> {
    // a module that imports itself, through others, has no address yet
    if (this.#addresses.has(path)) return this.#addresses.get(path);
    this.#addresses.set(path, undefined);
    const address = await this.#write(path);
    this.#addresses.set(path, address);
    return address;
  }

  async #write(path: string): Promise<string | undefined> {
    const url = pathToFileURL(path).href;
    const isTypeScript = pathOfTypeScript(url) !== undefined;
    if (!isTypeScript && !isModule(path)) return undefined;
    const stripped = await stripTypes(path);
    const imports = importsOf(stripped);
    if (imports === undefined) return undefined;
    const lines = stripped.split('\n');
    let hasToChange = isTypeScript;
    for (const { line, text, specifier } of imports) {
      const address = await this.#target(specifier, path);
      if (address === undefined) return undefined;
      hasToChange ||= address !== (specifier.startsWith('.') ? new URL(specifier, url).href : specifier);
      // a function: what is replaced with has no patterns then
      lines[line] = text.replace(/"[^"]+";$/, () => `${JSON.stringify(address)};`);
    }
    if (!hasToChange) return url;
    const text = [beginningOf(url), ...lines].join('\n');
    const place = placeOf(path, text, maker, 'modules');
    if (place === undefined) return undefined;
    if (keptCode(place) === undefined) {
      keepCode(place, withMapOfBeginning(text));
      if (keptCode(place) === undefined) return undefined;
    }
    return pathToFileURL(join(place.folder, place.name)).href;
  }

  /** What the written module imports instead. */
  async #target(specifier: string, path: string): Promise<string | undefined> {
    if (/^\.{1,2}\/[\w./-]*[\w-]$/.test(specifier)) {
      const names = [specifier, ...sourcesOf(specifier)].map((name) => resolve(dirname(path), name));
      const found = names.find((name) => statSync(name, { throwIfNoEntry: false })?.isFile());
      return found && this.addressOf(realpathSync(found));
    }
    if (isBuiltin(specifier) || /^file:.*\.m?js$/.test(specifier)) return specifier;
    return packageTarget(specifier, dirname(path));
  }
}

/** A package as the written module finds it, which is above the same `node_modules`. */
function packageTarget(specifier: string, folder: string): string | undefined {
  const [, name, inside = ''] = /^((?:@[\w.-]+\/)?[\w-][\w.-]*)(\/[\w./-]+)?$/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const link = join(folder, 'node_modules', name);
  if (existsSync(link)) {
    const found = realpathSync(link);
    // one of the same workspace may consist of TypeScript, and Node remembers what it could not load
    if (name !== 'runyard' && !found.includes(`${sep}node_modules${sep}`)) return undefined;
    if (name !== 'zod') return specifier;
    const url = pathToFileURL(join(found, inside, 'index.js')).href;
    const used = shared({ url }).url;
    return used === url ? specifier : used;
  }
  const parent = dirname(folder);
  return parent === folder ? undefined : packageTarget(specifier, parent);
}

/** Whether Node loads a file of JavaScript as a module, by its name or its package. */
function isModule(path: string): boolean {
  return path.endsWith('.mjs') || (path.endsWith('.js') && isPackageOfModules(dirname(path)));
}

function isPackageOfModules(folder: string): boolean {
  const file = join(folder, 'package.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')).type === 'module';
  const parent = dirname(folder);
  return parent !== folder && isPackageOfModules(parent);
}

interface Import {
  readonly line: number;
  readonly text: string;
  readonly specifier: string;
}

/**
 * The imports at the top of a module, as the compiler writes them. Undefined when there may be others below, where only
 * a parser could distinguish them from texts, or when the module asks Node for more than its own address.
 */
function importsOf(code: string): Import[] | undefined {
  const found: Import[] = [];
  const lines = code.split('\n');
  let isComment = false;
  let end = lines.length;
  for (const [line, written] of lines.entries()) {
    const text = written.trim();
    end = line;
    const [, specifier] = /^(?:import|export) (?:[^"'`;]* from )?"([^"\\]+)";$/.exec(text) ?? [];
    if (isComment || text.startsWith('/*')) {
      const close = text.indexOf('*/', isComment ? 0 : 2);
      isComment = close < 0;
      if (!isComment && close !== text.length - 2) break;
    } else if (specifier !== undefined) found.push({ line, text, specifier });
    else if (text !== '' && !text.startsWith('//')) break;
  }
  const rest = lines.slice(end).join('\n');
  const hasOthers =
    /^\s*import\b(?!\.meta)|\bfrom\s*["']|\bimport\s*["'(]|\bimport\.meta\b(?!\.(?:url|dirname|filename)\b)/m;
  if (hasOthers.test(rest)) return undefined;
  // a package that is given a place may import files of the application
  const givesPlace = /\bimport\.meta\b|\bprocess\.cwd\b/.test(rest);
  return givesPlace && found.some(({ specifier }) => isForeign(specifier)) ? undefined : found;
}

function isForeign(specifier: string): boolean {
  return !isBuiltin(specifier) && !/^(?:\.|file:|(?:runyard|zod)(?:\/|$))/.test(specifier);
}

/** Not in one word: the bundle has another name for it in its own code (`scripts/lib/split-module.mjs`). */
const metaName = ['import', 'meta'].join('.');
const mapStart = '//# sourceMappingURL=data:application/json;base64,';

function beginningOf(url: string): string {
  return `${begun}(${metaName}, ${JSON.stringify(url)});`;
}

/** The source map does not know the first line yet. */
function withMapOfBeginning(code: string): string {
  const at = code.lastIndexOf(mapStart) + mapStart.length;
  const map = JSON.parse(Buffer.from(code.slice(at), 'base64').toString());
  const described = JSON.stringify({ ...map, mappings: `;${map.mappings}` });
  return code.slice(0, at) + Buffer.from(described).toString('base64');
}
