import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { ScriptedToolCall } from '../../../src/testing.js';
import { gate } from '../../support/until.js';
import { chatBench, countCalls, lastTurn, say } from './chat-bench.js';

const bench = chatBench();
const { book } = bench;
const clerk = '/chat/agent/clerk';
const list = '**/sessions/*/runs?*';
const small = { viewport: { width: 360, height: 740 } };

const refund = (euros: number): ScriptedToolCall => ({ name: 'refund', arguments: { euros } });

test('a call is confirmed or rejected with a note, also after a reload', async () => {
  const { page, faults } = await bench.open(clerk);
  const twenty = { toolCalls: [refund(20)] };
  await say(page, book.write('Refund', twenty, twenty, 'Enough.'));
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
  const messages = book.requests('Two copies').at(-1)?.messages ?? [];
  expect(messages.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual(['printed']);
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

test('a list that was on its way while a question was answered does not bring the question back', async () => {
  const { page } = await bench.open(clerk);
  const [asked, answered, askedAgain] = [gate(), gate(), gate()];
  let lists = 0;
  await say(page, book.write('Slow list', { toolCalls: [refund(5)] }, 'Refunded.'));
  const card = page.getByRole('form', { name: 'refund needs your confirmation' });
  await card.waitFor();
  await page.route(list, async (route) => {
    lists += 1;
    if (lists > 1) return askedAgain.open();
    const response = await route.fetch();
    asked.open();
    await answered.opened;
    await route.fulfill({ response });
  });
  await asked.opened;
  await card.getByRole('button', { name: 'Confirm' }).click();
  await lastTurn(page).getByText('Refunded.').waitFor();
  await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
  answered.open();
  await askedAgain.opened;
  expect(await lastTurn(page).getByText('Refunded.').count()).toBe(1);
  expect(await card.count()).toBe(0);
});

test('a tab shows what a run asks after another tab has answered, and is notified of its cancellation', async () => {
  const { page } = await bench.open(clerk);
  const later = gate();
  await say(page, book.write('Two tabs', { toolCalls: [refund(6)] }, { toolCalls: [refund(7)] }));
  const card = (one: Page, euros: number) => one.getByRole('form').filter({ hasText: `euros${euros}` });
  await card(page, 6).waitFor();
  const tab = await page.context().newPage();
  await tab.addInitScript(countCalls);
  await tab.goto(page.url());
  await card(tab, 6).waitFor();
  // the list does not show that the run was in progress
  await page.route(list, async (route) => {
    await later.opened;
    await route.continue();
  });
  await card(tab, 6).getByRole('button', { name: 'Confirm' }).click();
  await card(tab, 7).waitFor();
  later.open();
  await card(page, 7).waitFor();
  const calls = () => tab.locator('html').getAttribute('data-calls').then(Number);
  const before = await calls();
  await tab.getByRole('button', { name: 'Cancel the run' }).click();
  for (const one of [tab, page]) await lastTurn(one).getByText('Stopped').waitFor();
  expect(await calls()).toBeGreaterThan(before);
});
