import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { agent, condition, loop, parallel, step, workflow } from '../../../src/index.js';
import { consoleBench } from './open-console.js';
import { checkPage, fitsPhone } from './page-checks.js';

const hostile = '<img src=x onerror="document.title=\'hacked\'">';
/** Ends the step that waits. */
let release = () => {};
const writer = agent({
  id: 'writer',
  name: 'Writer',
  model: 'offline',
  instructions: 'Always answer with "Dear customer"',
});
const inner = workflow({
  id: 'inner',
  name: 'Inner',
  steps: [step({ name: 'archive', run: () => 'archived' })],
});
const bench = consoleBench({
  agents: [writer],
  teams: [],
  workflows: [
    inner,
    workflow({
      id: 'complaints',
      name: 'Complaints',
      description: 'Answers complaints.',
      inputSchema: z.object({ text: z.string(), euros: z.number() }),
      steps: [
        step({ name: 'read', run: ({ input }) => input }),
        parallel({
          name: 'checks',
          steps: [
            step({
              name: 'order',
              run: () =>
                new Promise<string>((resolve) => {
                  release = () => resolve(`Order 7 ${hostile}`);
                }),
            }),
            step({ name: 'in time', run: () => 'yes' }),
          ],
        }),
        condition({
          name: 'large',
          when: 'input.euros > 50',
          steps: [
            step({
              name: 'approved refund',
              run: () => 'refunded',
              review: { requiresConfirmation: true, confirmationMessage: 'Refund?' },
            }),
          ],
          otherwise: [step({ name: 'refund', run: () => 'refunded' })],
        }),
        loop({ name: 'polish', steps: [step({ name: 'draft', agent: writer })], maxIterations: 2 }),
        step({ name: 'store', workflow: inner }),
      ],
    }),
  ],
});

const node = (page: Page, name: RegExp) =>
  page.getByRole('group', { name: 'Graph of Complaints' }).getByRole('button', { name });

async function start(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Run', exact: true }).click();
}

test('a workflow is drawn, started from a form, and lit as it runs', async () => {
  const { page, faults } = await bench.open('/workflows');
  await page.getByText('Answers complaints.').waitFor();
  await fitsPhone(page);
  await page.getByRole('link', { name: 'Complaints' }).click();
  for (const name of [
    /^read/,
    /^checks/,
    /^in time/,
    /^large, if input\.euros/,
    /^refund/,
    /^draft, agent Writer/,
    /^archive/,
  ])
    await node(page, name).waitFor();
  await start(page);
  const dialog = page.getByRole('dialog', { name: 'Run Complaints' });
  await dialog.getByLabel('text', { exact: true }).fill('The chair is broken');
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  // a field is missing
  await dialog.getByRole('alert').first().waitFor();
  await dialog.getByLabel('euros', { exact: true }).fill('20');
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await node(page, /^order, function, running/).waitFor();
  await node(page, /^in time, function, \d+ ms/).waitFor();
  release();
  await node(page, /^draft, agent Writer, 2× /).waitFor();
  await page.getByText('completed', { exact: true }).waitFor();
  await node(page, /^archive, function, \d+ ms/).waitFor();
  // the other branch was not taken
  await node(page, /^approved refund, function$/).waitFor();

  await node(page, /^read/).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const details = page.getByRole('region', { name: 'Details' });
  await details.getByRole('heading', { name: 'order' }).waitFor();
  await details.getByText('Order 7 <img').waitFor();
  await details.getByText('The chair is broken').waitFor();
  await checkPage(page);
  expect(await page.title()).toBe('Complaints · Runyard');
  expect(faults).toEqual([]);
});

test('a run starts from pasted JSON, pauses, and leads to the chat that answers', async () => {
  const { page, faults } = await bench.open('/workflows/complaints');
  await start(page);
  const dialog = page.getByRole('dialog', { name: 'Run Complaints' });
  await dialog.getByRole('button', { name: 'Edit as JSON' }).click();
  await dialog.getByLabel('JSON').fill('{ "text": "Broken", "euros": 80 }');
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await node(page, /^order, function, running/).waitFor();
  release();
  await node(page, /^approved refund, function, paused/).waitFor();
  const runId = new URL(page.url()).searchParams.get('run');
  expect(await page.getByRole('link', { name: 'Answer in the chat' }).getAttribute('href')).toMatch(
    new RegExp(`^/console/chat/workflow/complaints\\?session=.+&run=${runId}$`),
  );
  expect(faults).toEqual([]);
});

test('the graph is saved as a picture', async () => {
  const { page, faults } = await bench.open('/workflows/complaints');
  await node(page, /^read/).waitFor();
  const saved = async (type: 'SVG' | 'PNG') => {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Picture' }).click();
    await page.getByRole('menuitem', { name: `Save as ${type}` }).click();
    return readFileSync(await (await download).path());
  };
  const drawing = (await saved('SVG')).toString('utf8');
  expect(drawing).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  expect(drawing).toContain('approved refund');
  expect(drawing).not.toContain('class=');
  expect((await saved('PNG')).subarray(1, 4).toString('latin1')).toBe('PNG');
  await page.getByRole('button', { name: 'Zoom in' }).click();
  await page.getByText('125 %').waitFor();
  await page.getByRole('button', { name: 'Fit' }).click();
  await page.getByText('100 %').waitFor();
  const unknown = await bench.open('/workflows/unknown');
  await unknown.page.getByRole('alert').getByText('The service does not have this').waitFor();
  expect(faults).toEqual([]);
});
