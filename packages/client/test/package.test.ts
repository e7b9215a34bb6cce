import { execFile } from 'node:child_process';
import {
  cpSync,
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
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';

const source = fileURLToPath(new URL('../', import.meta.url));
const modules = fileURLToPath(new URL('../../../node_modules/', import.meta.url));
const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
const run = promisify(execFile);

/** A project that has installed the package as it is published. */
const project = mkdtempSync(join(tmpdir(), 'runyard-client-'));
const installed = join(project, 'node_modules/@runyard/client');

beforeAll(() => {
  for (const name of ['dist', 'package.json', 'LICENSE', 'README.md'])
    cpSync(join(source, name), join(installed, name), { recursive: true });
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
  for (const name of ['@types/node', 'undici-types', 'react', '@types/react', 'csstype'])
    symlinkSync(join(modules, name), join(project, 'node_modules', name), 'dir');
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }\n');
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

test('it depends on nothing, and imports nothing but itself', () => {
  expect(manifest).not.toHaveProperty('dependencies');
  expect(manifest.peerDependenciesMeta).toEqual({ react: { optional: true } });
  expect(Object.keys(manifest.peerDependencies)).toEqual(['react']);
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  const scripts = files.filter((name) => name.endsWith('.js') && !name.endsWith('react.js'));
  const imported = scripts.flatMap((name) => [
    ...readFileSync(join(installed, name), 'utf8').matchAll(/(?:from|import\()\s*['"]([^'"]+)/g),
  ]);
  expect(imported.length).toBeGreaterThan(0);
  expect(imported.map(([, from]) => from).filter((from) => !from!.startsWith('./'))).toEqual([]);
});

test('it is smaller than 15 KB', async () => {
  const build = await rolldown({ input: join(installed, 'dist/index.js'), platform: 'browser' });
  const { output } = await build.generate({ format: 'esm', minify: true });
  await build.close();
  expect(output).toHaveLength(1);
  const bytes = gzipSync(output[0].code, { level: 9 }).length;
  expect(bytes).toBeGreaterThan(1_000);
  expect(bytes).toBeLessThan(15_000);
});

const program = `
import { type AgentEvent, ApiError, createClient, NetworkError } from '@runyard/client';
import { useRun } from '@runyard/client/react';

const client = createClient({ baseUrl: 'http://127.0.0.1:7777', token: async () => 'secret', retries: 2 });

export async function right(): Promise<string[]> {
  const run = await client.agents.run('assistant', { message: 'Hello', dependencies: { city: 'Lisbon' } });
  const names: string[] = [run.run_id, run.tools?.[0]?.tool_name ?? ''];
  const stream = client.agents.stream('assistant', { message: 'Hello' }, { signal: new AbortController().signal });
  for await (const event of stream) {
    if (event.event === 'ToolCallCompleted') names.push(event.tool.tool_name, event.content);
    if (event.event === 'RunPaused') names.push(...event.requirements.map(({ id }) => id));
  }
  for await (const event of client.workflows.stream('complaints', { message: 'x' }))
    if (event.event === 'StepCompleted') names.push(event.step_name);
  for await (const event of client.knowledge.followContentEvents('x'))
    if (event.event === 'JobProgress') names.push(event.message);
  await client.agents.continue('cashier', run.run_id, { tools: [{ tool_call_id: 'x', confirmed: true }] });
  await client.workflows.continue('complaints', 'x', { error_requirements: [{ step_id: 'x', decision: 'retry' }] });
  const { data } = await client.sessions.list({ limit: 5 });
  names.push(...data.map(({ session_id }) => session_id));
  await client.approvals.resolve('x', { status: 'approved' });
  await client.knowledge.uploadContent({ file: [new Blob(['x'])] }, { onUploadProgress: ({ loaded }) => loaded });
  const nothing: undefined = await client.memories.delete('x', {});
  return [...names, String(nothing)];
}

export function name(error: unknown, event: AgentEvent): string {
  if (error instanceof ApiError) return error.errorCode + error.status + error.requestId + event.event_index;
  return error instanceof NetworkError ? error.message : '';
}

export function page(): string {
  const chat = useRun(client.workflows, 'complaints');
  return chat.run?.step_requirements?.[0]?.step_name ?? chat.text;
}

export async function wrong(): Promise<void> {
  // @ts-expect-error the field is misspelt
  await useRun(client.agents, 'assistant').send({ mesage: 'Hello' });
  // @ts-expect-error the field is misspelt
  await client.agents.run('assistant', { mesage: 'Hello' });
  // @ts-expect-error the message is missing
  await client.agents.run('assistant', {});
  // @ts-expect-error the client decides this
  client.agents.stream('assistant', { message: 'Hello', stream: false });
  for await (const event of client.agents.stream('assistant', { message: 'Hello' })) {
    // @ts-expect-error there is no such event
    if (event.event === 'RunFinished') return;
    // @ts-expect-error this event has no content
    if (event.event === 'RunStarted') event.content;
    // @ts-expect-error an agent has no events of workflows
    if (event.event === 'StepStarted') return;
  }
  // @ts-expect-error the answer has another type
  await client.agents.continue('cashier', 'x', { tools: [{ tool_call_id: 'x', confirmed: 'yes' }] });
  // @ts-expect-error the call is not named
  await client.agents.continue('cashier', 'x', { tools: [{ confirmed: true }] });
  // @ts-expect-error there is no such decision
  await client.workflows.continue('w', 'x', { error_requirements: [{ step_id: 'x', decision: 'again' }] });
  // @ts-expect-error the filter is misspelt
  await client.sessions.list({ usr_id: 'ada' });
  // @ts-expect-error the field of the response is misspelt
  (await client.sessions.list()).dta;
  // @ts-expect-error there is no such operation
  await client.sessions.rewind('x');
  // @ts-expect-error the id is missing
  await client.schedules.trigger();
}
`;

test.each([
  ['Node, without the types of browsers', ['--lib', 'es2023', '--types', 'node', '--module', 'nodenext']],
  [
    'a browser, without the types of Node',
    [
      ...[
        '--lib',
        'es2023,dom,dom.iterable',
        '--types',
        '',
        '--module',
        'esnext',
        '--moduleResolution',
        'bundler',
      ],
      '--exactOptionalPropertyTypes',
    ],
  ],
])('its types refuse what the service would, in a program for %s', async (_name, settings) => {
  writeFileSync(join(project, 'program.ts'), program);
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    'false',
    '--target',
    'es2022',
    '--singleThreaded',
  ];
  const compiler = join(modules, 'typescript/bin/tsc');
  const words = [compiler, ...options, ...settings, 'program.ts'];
  const { stdout } = await run(process.execPath, words, { cwd: project }).catch((error) => error);
  expect(stdout).toBe('');
});
