import { expect, test } from 'vitest';
import { chatBench, lastTurn, say } from './chat-bench.js';

const bench = chatBench();
const { book } = bench;

test('the inbox shows what waits, and a rejection with a note reaches the agent', async () => {
  const { page: inbox, faults } = await bench.open('/approvals');
  await inbox.getByText('Nothing waits for a decision').waitFor();
  const { page } = await bench.open('/chat/agent/clerk');
  await say(
    page,
    book.write('Pay', { toolCalls: [{ name: 'wire', arguments: { amount: 50 } }] }, 'Not paid.'),
  );
  await page.getByRole('form', { name: 'wire needs an approval' }).waitFor();
  // it appears by itself
  await inbox.getByRole('link', { name: /wire.*amount: 50/ }).click();
  const drawer = inbox.getByRole('dialog', { name: 'Approval' });
  await drawer.getByLabel('Note').fill('Too much');
  await drawer.getByLabel('Your name').fill('Grace');
  await drawer.getByRole('button', { name: 'Reject' }).click();
  await drawer.getByText('rejected').waitFor();
  await lastTurn(page).getByText('Not paid.').waitFor();
  expect(book.requests('Pay').at(-1)?.messages.at(-1)?.content).toContain('Too much');
  await drawer.getByRole('button', { name: 'Close' }).click();
  await inbox.getByText('Nothing waits for a decision').waitFor();
  await inbox.getByLabel('Status').selectOption('rejected');
  await inbox.getByRole('link', { name: /wire/ }).waitFor();
  await inbox.reload();
  await inbox.getByRole('link', { name: /wire/ }).click();
  await drawer.getByRole('link', { name: 'Conversation' }).click();
  await lastTurn(inbox).getByText('Not paid.').waitFor();
  expect(faults).toEqual([]);
});
