import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { entry, project, run, start } from './support.js';

describe('runyard openapi', () => {
  test('prints the API description', async () => {
    const cwd = project({ 'agents.ts': entry("{ settings: { name: 'Shop' } }") });
    const { code, stdout } = await run(['openapi'], { cwd });
    expect(code).toBe(0);
    expect(JSON.parse(stdout.replace('closing\n', ''))).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Shop' },
    });
  });

  test('writes it to a file', async () => {
    const cwd = project({ 'agents.ts': entry() });
    expect((await run(['openapi', '--out', 'api.json'], { cwd })).code).toBe(0);
    expect(JSON.parse(readFileSync(join(cwd, 'api.json'), 'utf8'))).toMatchObject({ openapi: '3.1.0' });
  });

  test('says when the file cannot be written', async () => {
    const outcome = await run(['openapi', '--out', 'none/api.json'], {
      cwd: project({ 'agents.ts': entry() }),
    });
    expect(outcome).toMatchObject({ code: 1, stderr: 'none/api.json cannot be written (ENOENT).\n' });
  });
});

describe('runyard migrate', () => {
  const migrate = (words: string[], options = '{}') =>
    run(['migrate', ...words], { cwd: project({ 'agents.ts': entry(options) }) });

  test('reports what was done in which database', async () => {
    const { code, stdout } = await migrate(['--database', 'archive', '--to', '1']);
    expect(code).toBe(0);
    expect(stdout).toContain('archive: 0001-foundation up: done in 3 ms');
  });

  test('fails when a migration fails', async () => {
    const { code, stdout } = await migrate([], '{ failingMigration: true }');
    expect(code).toBe(1);
    expect(stdout).toContain('main: 0001-foundation up: failed: no space');
  });

  test('prints the SQL of a dry run, and deletes data only by force', async () => {
    const { code, stdout } = await migrate(['--dry-run']);
    expect(code).toBe(0);
    expect(stdout).toContain(
      '-- main: 0001-foundation up\nCREATE TABLE runs (id integer);\n-- main: deletes runs (2 rows)\n',
    );
    expect((await migrate(['--to', '0'])).code).toBe(1);
    expect((await migrate(['--to', '0', '--force'])).code).toBe(0);
  });

  test('shows the status', async () => {
    const { stdout } = await migrate(['--status']);
    expect(stdout).toContain('main: version 0 of 1, 1 to run: 0001-foundation');
  });

  test('names a wrong version and an unknown database', async () => {
    expect(await migrate(['--to', 'last'])).toMatchObject({
      code: 1,
      stderr: 'flag --to is "last"; allowed: the number of a migration, such as 1.\n',
    });
    expect(await migrate(['--status', '--database', 'nope'])).toMatchObject({
      code: 1,
      stderr: "There is no database 'nope'. Registered: main.\n",
    });
  });
});

test.each([[['openapi']], [['migrate', '--dry-run']], [['migrate', '--status']]])(
  'runyard %s does not fail when nothing reads its output',
  async (words) => {
    const command = start(words, { cwd: project({ 'agents.ts': entry() }) });
    command.closeStandardOutput();
    expect(await command.ended).toMatchObject({ code: 0, stderr: '' });
  },
);
