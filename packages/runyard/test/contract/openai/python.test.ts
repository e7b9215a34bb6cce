import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { openaiApi } from '../../../src/interfaces.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { TestService } from '../../support/service.js';

/** A Python with the package `openai`, such as that of a virtual environment. */
const python = process.env.RUNYARD_TEST_PYTHON ?? 'python3';
const found = spawnSync(python, [
  '-c',
  'import importlib.util as u; exit(0 if u.find_spec("openai") else 3)',
]);

test('the official client for Python works unchanged', async ({ skip }) => {
  if (found.status !== 0)
    skip(`${python} has no package openai. Set RUNYARD_TEST_PYTHON to a Python after pip install openai.`);
  const book = new ScriptBook();
  const clerk = agent({ id: 'clerk', model: book.model });
  const service = await TestService.start({ agents: [clerk], interfaces: [openaiApi()] });
  onTestFinished(() => service.stop());
  const script = fileURLToPath(new URL('./python_client.py', import.meta.url));
  const messages = [
    book.write('plain', 'Hello.'),
    book.write('streamed', { chunks: ['Once ', 'upon'] }),
    book.write('tooled', { toolCalls: [{ name: 'weather', id: 'w', arguments: { city: 'Rome' } }] }, 'Hot.'),
  ];
  const { stdout } = await promisify(execFile)(python, [script, `${service.url}/v1`, ...messages]);
  expect(JSON.parse(stdout)).toEqual({
    models: ['clerk'],
    answer: 'Hello.',
    usage: true,
    text: 'Once upon',
    asked: 'tool_calls',
    told: 'Hot.',
    refused: [400, 'n'],
  });
});
