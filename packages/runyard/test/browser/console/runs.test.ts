import { expect, test } from 'vitest';
import { agent, step, tool, workflow } from '../../../src/index.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { consoleBench } from './open-console.js';
import { checkPage, fitsPhone, gone } from './page-checks.js';

const hostile = '<img src=x onerror="document.title=\'hacked\'">';
const book = new ScriptBook();
/** Ends the tool calls that wait. */
let release = () => {};
const slow = tool({
  name: 'slow',
  description: 'Takes long',
  execute: () =>
    new Promise((resolve) => {
      release = () => resolve({ found: hostile });
    }),
});
const bench = consoleBench({
  agents: [agent({ id: 'clerk', name: 'Clerk', model: book.model, tools: [slow] })],
  teams: [],
  workflows: [
    workflow({ id: 'flow', name: 'Flow', steps: [step({ name: 'double', run: ({ input }) => [input] })] }),
  ],
});

const inBackground = { background: true, stream: false };

test('the list shows the runs of all components, filters them, and cancels one', async () => {
  const { page, faults } = await bench.open('/runs');
  await page.getByText('No runs yet').waitFor();
  await fitsPhone(page);
  await bench.service.run('clerk', {
    message: book.write(`Hello ${hostile}`, 'Good morning'),
    user_id: 'ada',
  });
  await bench.service.submit('/workflows/flow/runs', { message: 'Go', stream: false, user_id: 'bob' });
  const waiting = book.write('Wait for me', { toolCalls: [{ name: 'slow', arguments: {} }] });
  await bench.service.run('clerk', { message: waiting, user_id: 'eve', ...inBackground });
  const table = page.getByRole('table', { name: 'Runs' });
  const row = table.getByRole('row', { name: 'Wait for me' });
  await row.getByText('running').waitFor();
  await table.getByText('Flow').waitFor();
  await checkPage(page);

  await page.getByLabel('User', { exact: true }).fill('bob');
  await gone(row);
  expect(await table.getByRole('row').count()).toBe(2);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByLabel('Status', { exact: true }).selectOption('error');
  await page.getByText('No run matches').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByLabel('Component').selectOption('agent/clerk');
  await gone(table.getByText('Flow'));
  await row.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click();
  await row.getByText('cancelled').waitFor();
  await table.getByRole('link', { name: 'Hello <img' }).click();
  await page.getByRole('heading', { name: 'Clerk', level: 1 }).waitFor();
  expect(await page.title()).toBe('Clerk · Runyard');
  expect(faults).toEqual([]);
});

test('a run is shown as it progresses, with its tools, messages, events and ways to chat and trace', async () => {
  const calling = { toolCalls: [{ name: 'slow', arguments: {} }] };
  const message = book.write('Look it up', calling, `**Found** ${hostile}`);
  await bench.service.run('clerk', { message, run_id: 'looked-up', session_id: 'desk', ...inBackground });
  const { page, faults } = await bench.open('/runs/agent/clerk/looked-up');
  await page.getByText('running').waitFor();
  await page.getByRole('tab', { name: /^Events/ }).click();
  await page.getByRole('button', { name: /ToolCallStarted/ }).waitFor();
  release();
  await page.getByRole('button', { name: /RunCompleted/ }).waitFor();
  await page.getByText('completed', { exact: true }).waitFor();
  await fitsPhone(page);
  await page.getByRole('button', { name: /ToolCallCompleted/ }).click();
  await page.getByRole('dialog').getByText('onerror').first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'Tools 1' }).click();
  await page.getByText('onerror').waitFor();
  await checkPage(page);
  await page.getByRole('tab', { name: 'Overview' }).click();
  await page.locator('strong', { hasText: 'Found' }).waitFor();
  await page.getByRole('table', { name: 'Tokens by model' }).waitFor();
  await fitsPhone(page);
  expect(await page.getByRole('link', { name: 'Chat' }).last().getAttribute('href')).toBe(
    '/console/chat/agent/clerk?session=desk&run=looked-up',
  );
  await page.getByRole('link', { name: 'Trace', exact: true }).click();
  await page.getByRole('tree', { name: 'Spans' }).waitFor();
  expect(await page.title()).toBe('Clerk · Runyard');
  expect(faults).toEqual([]);
});

test('a run that failed says why, and an unknown one says so', async () => {
  const message = book.write('Fail', { error: 'The provider is down' });
  await bench.service.run('clerk', { message, run_id: 'failed' });
  const { page } = await bench.open('/runs/agent/clerk/failed');
  await page.getByRole('alert').getByText('The provider is down').waitFor();
  await fitsPhone(page);
  const unknown = await bench.open('/runs/agent/clerk/unknown');
  await unknown.page.getByRole('alert').getByText('The service does not have this').waitFor();
});
