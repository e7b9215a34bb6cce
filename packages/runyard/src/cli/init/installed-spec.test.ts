import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { version } from '../../platform/version.js';
import { installedSpec } from './installed-spec.js';

function specIn(described: object | string | undefined): { spec: string; project: string } {
  const project = mkdtempSync(join(tmpdir(), 'runyard-spec-'));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  const text = typeof described === 'string' ? described : JSON.stringify(described);
  if (text !== undefined) writeFileSync(join(project, 'package.json'), text);
  return { spec: installedSpec(join(project, 'node_modules/runyard/')), project };
}

test('a copy that was installed from an archive is named by the archive', () => {
  for (const list of ['dependencies', 'devDependencies']) {
    const { spec, project } = specIn({ [list]: { runyard: 'file:packs/runyard.tgz' } });
    expect(spec).toBe(`file:${join(project, 'packs/runyard.tgz')}`);
  }
  const { spec, project } = specIn({ dependencies: { runyard: './packs/runyard.tgz' } });
  expect(spec).toBe(`file:${join(project, 'packs/runyard.tgz')}`);
  for (const address of ['https://files.example/runyard.tgz', 'file:~/runyard.tgz'])
    expect(specIn({ dependencies: { runyard: address } }).spec).toBe(address);
});

test('a copy from a registry, or one of which nothing is known, is named by its version', () => {
  for (const described of [
    { dependencies: { runyard: '0.1.0' } },
    { dependencies: {} },
    {},
    undefined,
    '{',
    '[]',
  ])
    expect(specIn(described).spec).toBe(`^${version}`);
});

test('a checkout is named by its folder', () => {
  expect(installedSpec('/home/ada/runyard/')).toBe('file:/home/ada/runyard/');
});
