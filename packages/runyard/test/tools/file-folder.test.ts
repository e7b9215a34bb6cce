import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { collectFixedTools } from '../../src/core/tools/collect-tools.js';
import { type FileFolderOptions, fileFolder } from '../../src/platform/tools/file-folder.js';
import { callTool } from './tool-call.js';

/** A folder with a jail in it and a secret beside the jail. */
function makeJail(options: FileFolderOptions = {}) {
  const home = mkdtempSync(join(tmpdir(), 'runyard-jail-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const root = join(home, 'jail');
  mkdirSync(join(root, 'notes', 'deep'), { recursive: true });
  mkdirSync(join(home, 'jail-break'));
  writeFileSync(join(home, 'secret.txt'), 'the secret');
  writeFileSync(join(home, 'jail-break', 'secret.txt'), 'the secret');
  writeFileSync(join(root, 'notes', 'plan.md'), 'Buy milk\nand Bread\n');
  writeFileSync(join(root, 'notes', 'deep', 'bread.txt'), 'rye');
  writeFileSync(join(root, '.env'), 'KEY=the secret');
  writeFileSync(join(root, 'picture'), Buffer.from([1, 0, 2]));
  const { tools } = collectFixedTools('Test', [fileFolder(root, options)]);
  const call = async (name: string, args: Record<string, string | number>) => {
    const { content, error } = await callTool(tools.get(name)!, args);
    return error ? `failed: ${content}` : content;
  };
  return { home, root, tools, call };
}

describe('fileFolder', () => {
  it('lists, reads and searches', async () => {
    const { call, tools } = makeJail();
    expect([...tools.keys()]).toEqual(['list_files', 'read_file', 'search_files']);
    expect(await call('list_files', {})).toBe('notes/\npicture');
    expect(await call('list_files', { path: './notes/' })).toBe('notes/deep/\nnotes/plan.md');
    expect(await call('read_file', { path: 'notes/plan.md' })).toBe('Buy milk\nand Bread\n');
    expect(await call('search_files', { text: 'bread' })).toBe(
      'notes/plan.md:2: and Bread\nnotes/deep/bread.txt',
    );
    expect(await call('search_files', { text: 'nowhere' })).toBe('Nothing was found.');
  });

  it('reads a long file in parts, never half a character', async () => {
    const { call, root } = makeJail({ maximumReadBytes: 10 });
    writeFileSync(join(root, 'long.txt'), 'äöü€𝄞'.repeat(5));
    let offset = 0;
    let text = '';
    for (;;) {
      const part = await call('read_file', { path: 'long.txt', offset });
      expect(part).not.toContain('\uFFFD');
      text += part.split('\n[')[0];
      const next = /Go on with offset (\d+)/.exec(part)?.[1];
      if (next === undefined) break;
      offset = Number(next);
    }
    expect(text).toBe('äöü€𝄞'.repeat(5));
  });

  it('reports what it cannot read', async () => {
    const { call } = makeJail();
    expect(await call('read_file', { path: 'missing.txt' })).toContain("There is no 'missing.txt'");
    expect(await call('read_file', { path: 'notes' })).toContain("'notes' is not a file");
    expect(await call('read_file', { path: 'notes/plan.md/x' })).toContain("There is no 'notes/plan.md/x'");
    expect(await call('read_file', { path: 'picture' })).toContain('is not a text file');
    expect(await call('read_file', { path: 'x'.repeat(5_000) })).toContain('cannot be opened');
  });

  it.each([
    '../secret.txt',
    'notes/../../secret.txt',
    'notes/..',
    '/etc/passwd',
    '//etc/passwd',
    '../jail-break/secret.txt',
    '../jail/notes/plan.md',
    'notes/\0/../plan.md',
    '.env',
    './.env',
    'notes/../.env',
    'link.txt',
    'folder/secret.txt',
    'folder',
    'sibling/secret.txt',
    'hidden-link',
    '~/secret.txt',
    '%2e%2e/secret.txt',
  ])('does not let %j out', async (path) => {
    const { call, home, root } = makeJail({ write: true });
    symlinkSync(join(home, 'secret.txt'), join(root, 'link.txt'));
    symlinkSync(home, join(root, 'folder'));
    symlinkSync(join(home, 'jail-break'), join(root, 'sibling'));
    symlinkSync(join(root, '.env'), join(root, 'hidden-link'));
    for (const [tool, args] of [
      ['read_file', { path }],
      ['list_files', { path }],
      ['search_files', { path, text: 'secret' }],
    ] as const) {
      const answer = await call(tool, args);
      expect(answer).toMatch(/^failed: /);
      expect(answer).not.toContain('the secret');
      expect(answer).not.toContain(home);
    }
    const before = readFileSync(join(home, 'secret.txt'), 'utf8');
    await call('write_file', { path, content: 'broken out' });
    expect(readFileSync(join(home, 'secret.txt'), 'utf8')).toBe(before);
    expect(readFileSync(join(home, 'jail-break', 'secret.txt'), 'utf8')).toBe(before);
    expect(readFileSync(join(root, '.env'), 'utf8')).toBe('KEY=the secret');
    expect(readdirSync(home).sort()).toEqual(['jail', 'jail-break', 'secret.txt']);
  });

  it('shows no link and no hidden name in a list or a search', async () => {
    const { call, home, root } = makeJail();
    symlinkSync(join(home, 'secret.txt'), join(root, 'link.txt'));
    symlinkSync(home, join(root, 'folder'));
    expect(await call('list_files', {})).toBe('notes/\npicture');
    expect(await call('search_files', { text: 'secret' })).toBe('Nothing was found.');
  });

  it('follows a link that stays inside, and shows hidden names when its options say so', async () => {
    const { call, root } = makeJail({ hidden: true });
    symlinkSync(join(root, 'notes'), join(root, 'alias'));
    expect(await call('read_file', { path: 'alias/plan.md' })).toContain('Buy milk');
    expect(await call('read_file', { path: '.env' })).toContain('KEY');
  });

  it('does not wait for a pipe', async () => {
    const { call, root } = makeJail();
    execFileSync('/usr/bin/env', ['mkfifo', join(root, 'pipe')]);
    expect(await call('read_file', { path: 'pipe' })).toContain('is not a file');
    expect(await call('search_files', { text: 'x' })).not.toContain('pipe');
  });

  it('ends a search at its bounds', async () => {
    const { call, root } = makeJail();
    for (let file = 0; file < 30; file++)
      writeFileSync(join(root, `file-${String(file).padStart(2, '0')}`), 'needle\n'.repeat(100));
    const lines = (await call('search_files', { text: 'needle' })).split('\n');
    expect(lines).toHaveLength(101);
    expect(lines.at(-1)).toContain('There may be more');
    expect(lines.filter((line) => line.startsWith('file-00:'))).toHaveLength(10);
  });

  it('writes only when its options allow it, whole files, within a size', async () => {
    expect(makeJail().tools.has('write_file')).toBe(false);
    const { call, root, tools } = makeJail({ write: true, maximumWriteBytes: 20 });
    expect(tools.get('write_file')).toMatchObject({ sideEffects: true, onUnknownOutcome: 'retry' });
    expect(await call('write_file', { path: 'new/folder/a.txt', content: 'one' })).toBe(
      'new/folder/a.txt was created: 3 bytes.',
    );
    expect(await call('write_file', { path: 'new/folder/a.txt', content: 'two' })).toContain('replaced');
    expect(readFileSync(join(root, 'new/folder/a.txt'), 'utf8')).toBe('two');
    expect(readdirSync(join(root, 'new/folder'))).toEqual(['a.txt']);
    expect(await call('write_file', { path: 'b', content: 'x'.repeat(21) })).toContain('the limit is 20');
    expect(await call('write_file', { path: 'notes', content: 'x' })).toContain('is not a file');
    expect(await call('write_file', { path: '', content: 'x' })).toContain('Name a file');
    expect(existsSync(join(root, 'b'))).toBe(false);
  });

  it('asks a person before it writes when its options say so', async () => {
    const { call, root } = makeJail({ write: true, confirmWrites: true });
    expect(await call('write_file', { path: 'a', content: 'x' })).toContain('a person must confirm it');
    expect(existsSync(join(root, 'a'))).toBe(false);
  });

  it('has a prefix for two folders, and reports that its folder does not exist', async () => {
    const { tools } = collectFixedTools('Test', [
      fileFolder('/nowhere/at/all', { prefix: 'a_' }),
      fileFolder('/nowhere/else', { prefix: 'b_' }),
    ]);
    expect([...tools.keys()]).toContain('b_read_file');
    expect((await callTool(tools.get('a_list_files')!)).content).toContain(
      '/nowhere/at/all cannot be read: ENOENT',
    );
  });
});
