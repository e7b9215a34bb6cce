import { expect, test } from 'vitest';
import type { ScriptedToolCall } from '../../../src/testing.js';
import { chatBench, lastTurn, say } from './chat-bench.js';

const bench = chatBench();
const { book } = bench;
const clerk = '/chat/agent/clerk';
const small = { viewport: { width: 360, height: 740 } };

test('a call is confirmed or rejected with a note, also after a reload', async () => {
  const { page, faults } = await bench.open(clerk);
  const refund = { toolCalls: [{ name: 'refund', arguments: { euros: 20 } }] };
  await say(page, book.write('Refund', refund, refund, 'Enough.'));
  await page.getByRole('form', { name: 'refund needs your confirmation' }).waitFor();
  await page.reload();
  const card = page.getByRole('form', { name: 'refund needs your confirmation' });
  await card.getByRole('button', { name: 'Confirm' }).click();
  await lastTurn(page)
    .getByRole('button', { name: /^Tool call refund/ })
    .waitFor();
  await card.getByLabel('Note for the agent').fill('Once is enough');
  await card.getByRole('button', { name: 'Reject' }).click();
  await lastTurn(page).getByText('Enough.').waitFor();
  const last = book.requests('Refund').at(-1)?.messages ?? [];
  expect(last.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual([
    'refunded 20',
    expect.stringContaining('Once is enough'),
  ]);
  expect(faults).toEqual([]);
});

test('values are filled in, options chosen, a result pasted, each on its own', async () => {
  const { page } = await bench.open(clerk, small);
  const fields = [
    { field_name: 'seats', field_type: 'int', field_description: 'How many?' },
    { field_name: 'window', field_type: 'bool', field_description: 'At the window?' },
  ];
  const options = [
    { label: 'First', description: 'quiet' },
    { label: 'Second', description: 'cheaper' },
  ];
  const calls: ScriptedToolCall[] = [
    { name: 'get_user_input', arguments: { user_input_fields: fields } },
    { name: 'ask_user', arguments: { questions: [{ question: 'Which class?', options }] } },
    { name: 'print', arguments: { copies: 2 } },
  ];
  await say(page, book.write('Book', { toolCalls: calls }, 'Booked.'));
  const form = page.getByRole('form', { name: 'get_user_input needs some values' });
  await form.getByRole('button', { name: 'Send' }).click();
  await form.getByText('Required').waitFor();
  await form.getByLabel('seats').fill('2');
  await form.getByLabel('window').check();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await form.getByRole('button', { name: 'Send' }).click();
  await form.waitFor({ state: 'detached' });
  const choice = page.getByRole('form', { name: 'ask_user asks you' });
  await choice.getByLabel('Second').check();
  await choice.getByRole('button', { name: 'Send' }).click();
  await choice.waitFor({ state: 'detached' });
  const result = page.getByRole('form', { name: 'print is executed outside the service' });
  await result.getByLabel('Result').fill('printed twice');
  await result.getByRole('button', { name: 'Send the result' }).click();
  await lastTurn(page).getByText('Booked.').waitFor();
  const tools =
    book
      .requests('Book')
      .at(-1)
      ?.messages.filter(({ role }) => role === 'tool') ?? [];
  expect(tools.map(({ content }) => content)).toEqual([
    '{"seats":2,"window":true}',
    expect.stringContaining('"Second"'),
    'printed twice',
  ]);
});

test('a run that needs an approval continues by itself when it is approved in the inbox', async () => {
  const { page } = await bench.open(clerk);
  await say(page, book.write('Pay', { toolCalls: [{ name: 'wire', arguments: { amount: 50 } }] }, 'Paid.'));
  await page.getByRole('form', { name: 'wire needs an approval' }).waitFor();
  const inbox = await page.context().newPage();
  await inbox.goto(`${bench.service.url}/console/approvals`);
  await inbox.getByRole('link', { name: /wire.*amount: 50/ }).click();
  const drawer = inbox.getByRole('dialog', { name: 'Approval' });
  await drawer.getByRole('link', { name: 'Conversation' }).waitFor();
  await drawer.getByLabel('Your name').fill('Grace');
  await drawer.getByRole('button', { name: 'Approve' }).click();
  await drawer.getByText('approved').waitFor();
  await lastTurn(page).getByText('Paid.').waitFor();
  await inbox.close();
});

test('a workflow is started from a form, and its steps ask for a review, a way and a retry', async () => {
  const { page, faults } = await bench.open('/chat/workflow/letter');
  await page.getByText('to: required').waitFor();
  await page.getByLabel('to', { exact: true }).fill('Ada');
  await page.getByRole('button', { name: 'Send' }).click();
  const review = page.getByRole('form', { name: /draft/ });
  await review.getByRole('button', { name: 'Edit' }).click();
  await review.getByLabel('Output').fill('A better draft');
  await review.getByRole('button', { name: 'Accept with my changes' }).click();
  const way = page.getByRole('form', { name: 'Step “way”: which way?' });
  await way.getByLabel('by pigeon').check();
  await way.getByRole('button', { name: 'Send' }).click();
  const failed = page.getByRole('form', { name: 'Step “stamp” failed' });
  await failed.getByText('No stamps left').waitFor();
  await failed.getByRole('button', { name: 'Retry' }).click();
  await lastTurn(page).getByText('Signed: A better draft').waitFor();
  const steps = lastTurn(page).getByRole('list', { name: 'Steps' }).first();
  await steps.getByRole('button', { name: /stamp/ }).click();
  await steps.getByText('stamped').waitFor();
  await page.reload();
  await lastTurn(page).getByText('Signed: A better draft').waitFor();
  await lastTurn(page).getByRole('button', { name: /way/ }).waitFor();
  expect(faults).toEqual([]);
});

test('a step of a workflow passes on what its agent waits for', async () => {
  const { page } = await bench.open('/chat/workflow/desk');
  await say(
    page,
    book.write('Two copies', { toolCalls: [{ name: 'print', arguments: { copies: 2 } }] }, 'Copied.'),
  );
  const card = page.getByRole('form', { name: 'print is executed outside the service' });
  await card.getByText('copies').waitFor();
  await page.reload();
  await card.getByLabel('Result').fill('printed');
  await card.getByRole('button', { name: 'Send the result' }).dblclick();
  await lastTurn(page).getByText('Copied.').last().waitFor();
  const told = book.requests('Two copies').at(-1)?.messages ?? [];
  expect(told.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual(['printed']);
});

test('the members of a team answer side by side', async () => {
  const { page } = await bench.open('/chat/team/crew');
  book.write(
    'Ideas?',
    { toolCalls: [{ name: 'delegate_task_to_members', arguments: { task: 'Think' } }] },
    'Both.',
  );
  book.write('Think', 'A cake', 'A card');
  await say(page, 'Ideas?');
  await lastTurn(page).getByText('Both.').waitFor();
  const [ada, grace] = await Promise.all(
    ['Ada', 'Grace'].map((name) => lastTurn(page).getByRole('article', { name }).boundingBox()),
  );
  expect(ada?.y).toBe(grace?.y);
  await page.setViewportSize(small.viewport);
  const [above, below] = await Promise.all(
    ['Ada', 'Grace'].map((name) => lastTurn(page).getByRole('article', { name }).boundingBox()),
  );
  expect(above?.x).toBe(below?.x);
  await page.reload();
  await lastTurn(page).getByRole('article', { name: 'Ada' }).waitFor();
});
