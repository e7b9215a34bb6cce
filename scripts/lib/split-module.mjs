import { createHash } from 'node:crypto';

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
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 32);
  const place = fileName.split('/').at(-1).replace(/\.js$/, '.code.js');
  const root = '../'.repeat(fileName.split('/').length - 1);
  const facade = [
    `import { compiledCode } from "${root}platform/compiled-code.js";`,
    ...imports,
    `const code = compiledCode(new URL("./${place}", import.meta.url), "${hash}");`,
    `const made = code(${imported}, import.meta, (name) => import(name));`,
    ...exported.map(([, name], index) => `const e${index} = made.${name};`),
    `export { ${exported.map(([, name], index) => `e${index} as ${name}`).join(', ')} };\n`,
  ].join('\n');
  const codeFile = { fileName: fileName.replace(/[^/]+$/, place), code: text };
  return [
    { ...file, code: facade },
    { ...codeFile, imports: [], dynamicImports: [], moduleIds: [] },
  ];
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
