import { expect, test } from 'vitest';
import { z } from 'zod';
import { agent, foreach, step, tool, workflow } from '../../../src/index.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { consoleBench } from './open-console.js';
import { checkPage, fitsPhone, gone } from './page-checks.js';

const hostile = '<img src=x onerror="document.title=\'hacked\'"><script>document.title="hacked"</script>';
const items = 1_200;
const book = new ScriptBook();
const lookup = tool({
  name: 'lookup',
  description: 'Looks up an order',
  inputSchema: z.object({ order: z.number() }),
  execute: ({ order }) => ({ order, item: hostile }),
});
const bench = consoleBench({
  agents: [
    agent({
      id: 'clerk',
      name: 'Clerk',
      model: book.model,
      tools: [lookup],
      instructions: 'You are a clerk.',
    }),
  ],
  teams: [],
  workflows: [
    workflow({
      id: 'many',
      name: 'Many',
      steps: [
        step({ name: 'list', run: () => Array.from({ length: items }, (_, at) => at) }),
        foreach(step({ name: 'item', run: ({ previousStepContent }) => previousStepContent }), {
          name: 'each',
          concurrency: 50,
        }),
      ],
    }),
  ],
});

async function asked(message: string, user: string, runId: string): Promise<void> {
  const { status } = await bench.service.run('clerk', { message, user_id: user, run_id: runId });
  expect(status).toBe(200);
}

test('a builder makes filters, which the address keeps and which can be written as text', async () => {
  await asked(book.write('Hello from Ada', 'Good morning'), 'ada', 'filter-1');
  await asked(book.write('Hello from Bob', { error: 'The provider is down' }), 'bob', 'filter-2');
  const { page, faults } = await bench.open('/traces');
  const table = page.getByRole('table', { name: 'Traces' });
  await table.getByText('Hello from Bob').waitFor();

  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByLabel('Field').selectOption('user_id');
  await page.getByLabel('Value').fill('ada');
  await page.getByRole('button', { name: 'Apply' }).click();
  await gone(table.getByText('Hello from Bob'));
  await table.getByText('Hello from Ada').waitFor();
  await page.getByRole('checkbox', { name: 'not' }).check();
  await page.getByRole('button', { name: 'Condition', exact: true }).click();
  await page.getByLabel('Value').last().selectOption('ERROR');
  await page.getByRole('button', { name: 'Apply' }).click();
  await table.getByText('Hello from Bob').waitFor();
  expect(JSON.parse(new URL(page.url()).searchParams.get('filter') ?? '')).toEqual({
    op: 'AND',
    conditions: [
      { op: 'NOT', condition: { op: 'EQ', key: 'user_id', value: 'ada' } },
      { op: 'EQ', key: 'status', value: 'ERROR' },
    ],
  });

  await page.reload();
  await page.getByText('not user_id is "ada" and status is "ERROR"').waitFor();
  await page.getByRole('button', { name: 'Filter' }).click();
  await checkPage(page);
  await page.getByRole('button', { name: 'Edit as text' }).click();
  const text = page.getByLabel('Expression as JSON');
  await text.fill('{"op":"AND"}');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('alert').getByText('AND needs "conditions"').waitFor();
  await text.fill('{"op":"STARTSWITH","key":"user_id","value":"nobody"}');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('No trace matches').waitFor();
  await page.getByRole('button', { name: 'Show all traces' }).click();
  await page.getByRole('tab', { name: 'By session' }).click();
  await page.getByRole('table', { name: 'Traces by session' }).getByText('ada').waitFor();
  expect(faults).toEqual([]);
});

test('a trace shows its tree by keyboard, messages, arguments and results, and becomes a case', async () => {
  const call = { toolCalls: [{ name: 'lookup', arguments: { order: 7 } }] };
  await asked(book.write('What is order 7?', call, `It is **a chair** ${hostile}`), 'ada', 'order-7');
  const { page, faults } = await bench.open('/traces');
  await page.getByRole('link', { name: 'Clerk' }).first().click();
  const tree = page.getByRole('tree', { name: 'Spans' });
  await tree.getByRole('treeitem').nth(3).waitFor();
  await tree.focus();
  await page.keyboard.press('ArrowDown');
  const span = page.getByRole('region', { name: 'Span' });
  await span.getByRole('heading', { name: 'Messages' }).waitFor();
  await span.getByText('You are a clerk.').waitFor();
  await page.keyboard.press('ArrowDown');
  await span.getByRole('heading', { name: 'Arguments' }).waitFor();
  await span.getByText('onerror').waitFor();
  await page.keyboard.press('ArrowDown');
  await span.locator('strong', { hasText: 'a chair' }).waitFor();
  await checkPage(page);
  expect(await page.title()).toBe('Clerk · Runyard');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowLeft');
  expect(await tree.getByRole('treeitem').count()).toBe(1);
  await page.keyboard.press('Enter');
  expect(await span.evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await page.getByRole('link', { name: 'Chat' }).last().getAttribute('href')).toMatch(
    /\/console\/chat\/agent\/clerk\?session=.+&run=order-7$/,
  );

  await page.getByRole('button', { name: 'Add to dataset' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add to a dataset' });
  await dialog.getByLabel('Name of the dataset').fill('orders');
  await dialog.getByLabel('Expected output', { exact: true }).fill('A chair');
  await dialog.getByLabel('Expect the tool calls that succeeded').check();
  await dialog.getByRole('button', { name: 'Add the case' }).click();
  await page.getByRole('button', { name: 'Open the dataset' }).click();
  await page.getByRole('table', { name: 'Cases' }).getByText('What is order 7?').waitFor();
  const [dataset] = (await bench.service.get('/datasets')).body.data;
  expect((await bench.service.get(`/datasets/${dataset.id}/cases`)).body.data).toMatchObject([
    {
      input: 'What is order 7?',
      expected_output: 'A chair',
      expected_tool_calls: [{ name: 'lookup' }],
      metadata: { run_id: 'order-7' },
    },
  ]);
  expect(faults).toEqual([]);
});

test('a trace of many spans draws those that are visible', async () => {
  await bench.service.submit('/workflows/many/runs', { message: 'Go', stream: false });
  const { page } = await bench.open('/traces');
  await page.getByRole('link', { name: 'Many' }).click();
  const tree = page.getByRole('tree', { name: 'Spans' });
  await tree.getByRole('treeitem', { name: /^item/ }).first().waitFor();
  expect(await tree.getByRole('treeitem').count()).toBeLessThan(100);
  await tree.focus();
  await page.keyboard.press('End');
  await page.waitForFunction(
    (count) =>
      document.querySelector('[aria-selected="true"]')?.getAttribute('aria-posinset') === String(count),
    items,
  );
  expect(await tree.getByRole('treeitem').count()).toBeLessThan(100);
});

test('an unknown trace says so, and offers to try again', async () => {
  const { page } = await bench.open('/traces/unknown');
  await page.getByRole('alert').getByText('The service does not have this').waitFor();
  await page.getByRole('button', { name: 'Retry' }).waitFor();
  await fitsPhone(page);
});
