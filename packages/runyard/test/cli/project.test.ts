import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { linkPackages, project, run, start, typeFaults } from './support.js';

const runAgent = async (url: string, message: string) => {
  const response = await fetch(`${url}/agents/assistant/runs`, {
    method: 'POST',
    body: new URLSearchParams({ message, stream: 'false' }),
  });
  return (await response.json()) as { status: string; content: string };
};

test('a project with declarations exports what the package makes without naming its types', () => {
  const compilerOptions = {
    module: 'NodeNext',
    strict: true,
    noEmit: true,
    declaration: true,
    types: ['node'],
  };
  const folder = project({
    'package.json': '{ "type": "module" }',
    'tsconfig.json': JSON.stringify({
      compilerOptions: { ...compilerOptions, target: 'ES2023', skipLibCheck: true },
    }),
    'parts.ts': `
      import { agent, condition, knowledge, loop, parallel, router, Runyard, step, stepOutput, steps, tool, toolCallsOf, toolResult, workflow } from 'runyard';
      import { accuracy, contains, evaluate, performance, scorer } from 'runyard/evals';
      import { s3Source } from 'runyard/knowledge';
      import { calculator } from 'runyard/tools';
      import { z } from 'zod';
      const schema = z.object({ at: z.string() });
      export const add = tool({ name: 'add', description: 'Adds', inputSchema: schema, execute: () => 1 });
      export const sum = calculator();
      export const drawn = () => toolResult('A cat', { media: [] });
      export const clerk = agent({ id: 'clerk', model: 'offline', tools: [add], inputSchema: schema, outputSchema: schema });
      export const answer = () => clerk.runOrThrow({ at: 'noon' });
      export const calls = async () => toolCallsOf(await answer(), [add]);
      export const extractor = <S extends z.ZodType>(outputSchema: S) => agent({ id: 'e', model: 'offline', outputSchema });
      export const extracted = <S extends z.ZodType>(of: S) => extractor(of).runOrThrow('noon');
      export const one = step({ name: 'one', run: () => done() });
      export const done = () => stepOutput({ stop: true });
      export const groups = [steps([one]), loop({ steps: [one] }), parallel({ steps: [one] })];
      export const choices = [condition({ when: true, steps: [one] }), router({ choices: [one], select: () => 'one' })];
      export const app = new Runyard({ agents: [clerk], workflows: [workflow({ id: 'w', steps: [one] })] });
      export const serve = [app.handler(), app.fetchHandler()];
      export const limits = clerk.limits;
      export const bucket = s3Source({ id: 'docs', bucket: 'docs' });
      export const handbook = knowledge({ name: 'handbook', sources: [bucket] });
      export const found = () => handbook.search('noon');
      export const graded = evaluate({ name: 'n', agent: clerk, cases: [{ input: { at: 'noon' } }], scorers: [contains(), scorer({ name: 'one', score: () => 1 })] });
      export const grade = async () => (await graded.run()).results[0];
      export const measured = [accuracy({ agent: clerk, input: 'q', expectedOutput: 'a' }), performance({ agent: clerk, input: 'q' })];
      export const added = () => handbook.add({ from: { text: 'noon' } });
    `,
  });
  linkPackages(folder);
  expect(typeFaults(folder)).toBe('');
});

describe('runyard init', () => {
  test('makes a project that type-checks, runs at once, and stops cleanly', async () => {
    const cwd = project({});
    const { code, stdout } = await run(['init', 'my agents'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toMatch(/Next:\n {2}cd 'my agents' && npm install\n {2}npm run dev\n$/);

    const folder = join(cwd, 'my agents');
    expect(readdirSync(folder).sort()).toEqual([
      '.gitignore',
      'README.md',
      'agents.ts',
      'package.json',
      'tsconfig.json',
    ]);
    // no registry has this copy
    const own = fileURLToPath(new URL('../..', import.meta.url));
    const made = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(made).toMatchObject({ name: 'my-agents', dependencies: { runyard: `file:${own}` } });

    linkPackages(folder);
    expect(typeFaults(folder)).toBe('');
    const server = start(['start', '--port', '0'], { cwd: folder, env: { OPENAI_API_KEY: '' } });
    const [, url] = await server.prints(/API +(http:\S+)/);
    expect(await runAgent(url!, 'Please add 2 and 40')).toMatchObject({
      status: 'completed',
      content: expect.stringContaining('42'),
    });
    expect(existsSync(join(folder, '.runyard/runyard.db'))).toBe(true);
    server.signal('SIGTERM');
    expect((await server.ended).code).toBe(0);
  });

  test('overwrites nothing', async () => {
    const cwd = project({ 'agents.ts': 'mine', 'notes.txt': 'mine too' });
    const { code, stderr } = await run(['init'], { cwd });
    expect(code).toBe(1);
    expect(stderr).toBe(
      'This folder already contains agents.ts; nothing was written. Choose another folder.\n',
    );
    expect(readdirSync(cwd).sort()).toEqual(['agents.ts', 'notes.txt']);
  });

  test('says when the folder cannot be made', async () => {
    const outcome = await run(['init', 'file/below'], { cwd: project({ file: '' }) });
    expect(outcome).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot be written (ENOTDIR)'),
    });
  });

  test.runIf(existsSync('/proc'))('ends where a folder takes no folders, as /proc', async () => {
    expect(await run(['init', '/proc/x/y'], { cwd: project({}) })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/proc/x/y cannot be written (ENOENT)'),
    });
  });
});

describe('a real service', () => {
  const application = "import { Runyard } from 'runyard';\nexport const app = new Runyard({});\n";
  const linked = (files: Record<string, string> = {}) => {
    const folder = project({ 'agents.ts': application, ...files });
    linkPackages(folder);
    return folder;
  };
  const oneLine = async (words: string[], cwd: string, env: Record<string, string> = {}) => {
    const { code, stderr } = await run(['start', ...words], { cwd, env });
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    return stderr;
  };

  test.each([
    ['PORT', 'port'],
    ['RUNYARD_PROBE_PORT', 'probePort'],
  ])('says in one line that the port of %s is in use', async (variable, setting) => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const text = await oneLine([], linked(), { PORT: '0', [variable]: String(port) });
    expect(text).toContain(`127.0.0.1:${port}: the port is in use.`);
    expect(text).toMatch(new RegExp(`\\(setting ${setting}\\)\\. Use .*\\b${variable}\\b`));
  });

  test('says in one line that its data folder cannot be written', async () => {
    const text = await oneLine(['--data-dir', 'data/below', '--port', '0'], linked({ data: 'a file' }));
    expect(text).toMatch(/data\/below\/runyard\.db: .*--data-dir/);
  });

  test('says in one line that a setting in code is wrong', async () => {
    const cwd = linked({ 'agents.ts': application.replace('{}', '{ prot: 1 } as object') });
    expect(await oneLine([], cwd)).toContain('code, option "prot" is not a setting. Did you mean "port"?');
  });

  test('is described and migrated without being served', async () => {
    const cwd = linked();
    const { stdout } = await run(['openapi'], { cwd });
    expect(JSON.parse(stdout)).toMatchObject({
      openapi: expect.stringMatching(/^3\.1/),
      paths: { '/health': {} },
    });
    expect(existsSync(join(cwd, '.runyard'))).toBe(false);
    const migrate = async (...words: string[]) => (await run(['migrate', ...words], { cwd })).stdout;
    expect(await migrate('--status')).toMatch(/^default: version 0 of \d+, \d+ to run: /);
    expect(await migrate()).toMatch(/^default: \S+ up: done in \d+ ms$/m);
    expect(await migrate()).toBe('default: nothing to do\n');
    expect(await migrate('--to', '0')).toMatch(/^default: \S+ down: done in \d+ ms$/m);
    expect(await migrate('--status')).toMatch(/^default: version 0 of /);
    expect((await run(['migrate', '--database', 'nope'], { cwd })).stderr).toContain(
      "'nope'. Registered: default.",
    );
  });
});
