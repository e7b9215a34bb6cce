import { createHash } from 'node:crypto';
import { posix } from 'node:path';

const { basename, dirname, relative } = posix;

/** The one file that loads the others, whose compiled form is kept. */
export const loaderFile = 'platform/compiled-code.cjs';

/**
 * A module of the bundle as two files: its code as a function, whose compiled form can be kept
 * (`platform/compiled-code.ts`), and a module that calls it with what the code imports, and exports what it returns.
 */
export function splitModule(file) {
  const { fileName, code } = file;
  const lines = code.trimEnd().split('\n');
  const imports = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith('import ')),
  );
  const exports = lines.at(-1);
  if ([...imports, exports].some((line) => !/^(?:import|export) \{.*\}.*;$/.test(line)))
    throw new Error(`${fileName} has imports or exports of an unknown form`);
  const exported = namesIn(exports);
  const changing = exported.filter(([local]) => new RegExp(`^let ${escaped(local)}\\b`, 'm').test(code));
  // what is exported is read once
  if (changing.length > 0) throw new Error(`${fileName} exports variables: ${changing.join(' ')}`);
  const imported = `{ ${imports
    .flatMap(namesIn)
    .map(([, local]) => local)
    .join(', ')} }`;
  const inner = lines
    .slice(imports.length, -1)
    .join('\n')
    .replace(/\bimport\.meta\b/g, '__meta')
    .replace(/(?<![\w$.])import\(/g, '__import(');
  const made = `{ ${exported.map(([local, name]) => `${name}: ${local}`).join(', ')} }`;
  const text = `"use strict";(function (${imported}, __meta, __import) {\n${inner}\nreturn ${made};\n})\n`;
  const codeFile = codeFileOf(fileName, text);
  const facade = [
    `import { createRequire as __createRequire } from "node:module";`,
    ...imports.filter((line) => !isBuiltinImport(line)),
    `const { compiledCode: __compiledCode, requireBuiltin: __builtin } = __createRequire(import.meta.url)("${loaderFrom(fileName)}");`,
    ...imports.filter(isBuiltinImport).map(builtinRequired),
    `const __code = __compiledCode(new URL("./${basename(codeFile.fileName)}", import.meta.url), "${hashOf(text)}");`,
    `const { ${exported.map(([, name], index) => `${name}: __e${index}`).join(', ')} } = __code(${imported}, import.meta, (name) => import(name));`,
    `export { ${exported.map(([, name], index) => `__e${index} as ${name}`).join(', ')} };\n`,
  ].join('\n');
  return [{ ...file, code: facade }, codeFile];
}

const isBuiltinImport = (line) => / from "node:.*";$/.test(line);

/** Node's own modules: to import them, Node would read all that they export, which loads parts that nothing uses. */
function builtinRequired(line) {
  const [, names, module] = /^import \{(.*)\} from "(.*)";$/.exec(line);
  return `const {${names.replaceAll(' as ', ': ')}} = __builtin("${module}");`;
}

/** The same for a file that `require` loads. */
export function splitRequired(file) {
  const { fileName, code } = file;
  const text = `(function (exports, require, module) {\n${code}\n})\n`;
  const codeFile = codeFileOf(fileName, text);
  const facade = [
    `const { compiledCode } = require("${loaderFrom(fileName)}");`,
    `const { pathToFileURL } = require("node:url");`,
    `const place = pathToFileURL(require.resolve("./${basename(codeFile.fileName)}"));`,
    `compiledCode(place, "${hashOf(text)}")(exports, require, module);\n`,
  ].join('\n');
  return [{ ...file, code: facade }, codeFile];
}

function codeFileOf(fileName, code) {
  return {
    ...{ fileName: fileName.replace(/\.c?js$/, '.code.js'), code },
    ...{ imports: [], dynamicImports: [], moduleIds: [] },
  };
}

function loaderFrom(fileName) {
  const path = relative(dirname(fileName), loaderFile);
  return path.startsWith('.') ? path : `./${path}`;
}

function hashOf(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** The names in the braces of an import or export, each with the one after `as`. */
function namesIn(statement = '') {
  const [, list = ''] = /\{(.*)\}/.exec(statement) ?? [];
  const names = list.split(',').map((part) => part.trim().split(' as '));
  return names.filter(([first]) => first !== '').map(([first, second = first]) => [first, second]);
}

function escaped(name) {
  return name.replaceAll('$', '\\$');
}
