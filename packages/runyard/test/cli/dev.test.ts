import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../support/until.js';
import { entry, project, start } from './support.js';

const answers = (url: string, text: string) =>
  until(
    `it answers '${text}'`,
    async () =>
      (await fetch(url).then(
        (response) => response.text(),
        () => '',
      )) === text,
  );

test('restarts on change with the same port, survives a broken file, and ends with Ctrl-C', async () => {
  const cwd = project({ 'agents.ts': entry("{ answer: 'first' }") });
  const server = start(['dev', '--port', '0'], { cwd });
  const [, url] = await server.prints(/API +(http:\S+)/);
  await answers(url!, 'first');

  writeFileSync(join(cwd, 'agents.ts'), entry("{ answer: 'second' }"));
  await answers(url!, 'second');
  expect(server.stdout).toContain('agents.ts changed: restarting');

  writeFileSync(join(cwd, 'agents.ts'), 'const broken: = 1;');
  await server.prints(/agents\.ts:1 could not be loaded: SyntaxError/);
  await server.prints(/Waiting for a change/);

  writeFileSync(join(cwd, 'agents.ts'), entry("{ answer: 'third' }"));
  await answers(url!, 'third');

  server.signal('SIGINT');
  expect((await server.ended).code).toBe(0);
  await expect(fetch(url!)).rejects.toThrow();
});

test('sees files in folders that are made later, and not those of packages and data', async () => {
  const words = "import { word } from './words/word.js';\n";
  const cwd = project({ 'agents.ts': entry("{ answer: 'first' }"), 'node_modules/other/index.js': '' });
  const server = start(['dev', '--port', '0'], { cwd });
  const [, url] = await server.prints(/API +(http:\S+)/);
  await answers(url!, 'first');

  writeFileSync(join(cwd, 'node_modules/other/index.js'), '// changed');
  mkdirSync(join(cwd, 'words'));
  writeFileSync(join(cwd, 'words/word.ts'), "export const word: string = 'second';\n");
  writeFileSync(join(cwd, 'agents.ts'), words + entry('{ answer: word }'));
  await answers(url!, 'second');
  writeFileSync(join(cwd, 'words/word.ts'), "export const word: string = 'third';\n");
  await answers(url!, 'third');
  expect(server.stdout).not.toContain('node_modules');
});

test('restarts for files that the entry imports and for settings, and for no others', async () => {
  const cwd = project({
    'src/agents.ts': `import { word } from '../words.js';\n${entry('{ answer: word + process.env.MARK }')}`,
    'words.ts': "export const word: string = 'first';\n",
    '.env': 'MARK=!\n',
    'src/notes.ts': '',
  });
  const server = start(['dev', '--port', '0'], { cwd });
  const [, url] = await server.prints(/API +(http:\S+)/);
  await answers(url!, 'first!');

  writeFileSync(join(cwd, 'src/notes.ts'), '// nobody imports this');
  writeFileSync(join(cwd, 'package-lock.json'), '{}');
  writeFileSync(join(cwd, 'words.ts'), "export const word: string = 'second';\n");
  await answers(url!, 'second!');
  writeFileSync(join(cwd, '.env'), 'MARK=?\n');
  await answers(url!, 'second?');
  expect(server.stdout).not.toMatch(/notes|package-lock/);
  expect(server.stdout).toContain('words.ts changed: restarting');
  expect(server.stdout).toContain('.env changed: restarting');
});

test('restarts for files that are loaded with require, and no longer for those that were imported once', async () => {
  const cwd = project({
    'agents.ts': `import { createRequire } from 'node:module';\nimport words from './words.cjs';\nimport './once.js';
      const data = createRequire(import.meta.url)('./data.json');\n${entry('{ answer: words.word + data.mark }')}`,
    'words.cjs': "module.exports = require('./deep.cjs');\n",
    'deep.cjs': "module.exports = { word: 'first' };\n",
    'data.json': '{ "mark": "!" }',
    'once.ts': '',
  });
  const server = start(['dev', '--port', '0'], { cwd });
  const [, url] = await server.prints(/API +(http:\S+)/);
  await answers(url!, 'first!');

  writeFileSync(join(cwd, 'deep.cjs'), "module.exports = { word: 'second' };\n");
  await answers(url!, 'second!');
  writeFileSync(join(cwd, 'data.json'), '{ "mark": "?" }');
  await answers(url!, 'second?');
  writeFileSync(
    join(cwd, 'agents.ts'),
    `import words from './words.cjs';\n${entry("{ answer: words.word + '.' }")}`,
  );
  await answers(url!, 'second.');
  writeFileSync(join(cwd, 'once.ts'), '// no longer imported');
  writeFileSync(join(cwd, 'deep.cjs'), "module.exports = { word: 'third' };\n");
  await answers(url!, 'third.');
  expect(server.stdout).not.toContain('once.ts changed');
});
