import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { allPages, isMarked, repository } from './pages.js';

test('the TypeScript of the pages has the right types', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'runyard-docs-types-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'), 'dir');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(configuration()));
  for (const { path, blocks } of allPages()) {
    for (const block of blocks.filter(({ language }) => language === 'ts').filter(isMarked)) {
      writeFileSync(join(folder, `${path.replace(/\W/g, '_')}_${block.line}.ts`), block.text);
    }
  }
  const compiler = join(repository, 'node_modules/typescript/bin/tsc');
  const words = [compiler, '-p', folder, '--singleThreaded'];
  const { stdout } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' });
  expect(stdout.trim().split('\n').filter(Boolean)).toEqual([]);
});

function configuration(): object {
  return {
    extends: join(repository, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: true,
      // as strict as a project of a reader may be
      exactOptionalPropertyTypes: true,
      allowImportingTsExtensions: true,
    },
    include: ['*.ts'],
  };
}

test('every TypeScript block is marked, so that nothing in it goes unchecked', () => {
  const unmarked = allPages().flatMap(({ path, blocks }) =>
    blocks
      .filter((block) => block.language === 'ts' && !isMarked(block))
      .map(({ line }) => `${path}:${line}`),
  );
  expect(unmarked).toEqual([]);
});
