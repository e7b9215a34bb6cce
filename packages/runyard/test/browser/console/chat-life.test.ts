import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { agent, tool } from '../../../src/index.js';
import { ChaosFolder, ChaosProcess } from '../../support/chaos-process.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { gate, until } from '../../support/until.js';
import { lastTurn, say } from './chat-bench.js';
import { consoleBench } from './open-console.js';
import { checkPage } from './page-checks.js';

const many = 5_000;
const scripts = new ScriptBook();
const report = tool({
  name: 'report',
  description: 'Reports its progress',
  execute: async (_input, { emit }) => {
    for (let number = 0; number < many; number += 1) await emit({ number });
    return 'done';
  },
});
const bench = consoleBench({
  agents: [agent({ id: 'talker', name: 'Talker', model: scripts.model, tools: [report] })],
});

/** Counts the changes of the conversation and the frames of the page. */
async function watch(page: Page): Promise<void> {
  await page.evaluate(() => {
    const seen = { frames: 0, changes: 0, longTasks: 0 };
    const frame = () => {
      seen.frames += 1;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    new MutationObserver(() => {
      seen.changes += 1;
    }).observe(document.querySelector('[role=log]') ?? document, {
      subtree: true,
      childList: true,
      characterData: true,
    });
    Object.assign(window, { seen });
  });
}

test('a run of 10,000 events is drawn once per frame, a part at a time, and one can write meanwhile', async () => {
  const { page, faults } = await bench.open('/chat/agent/talker');
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  await watch(page);
  const end = gate();
  const words = Array.from({ length: many }, (_, at) => (at % 20 === 19 ? `word${at}.\n\n` : `word${at} `));
  scripts.write('Much', { toolCalls: [{ name: 'report' }] }, { chunks: [...words, end.opened, 'The end.'] });
  await say(page, 'Much');
  await lastTurn(page)
    .getByText(/word100\b/)
    .waitFor();
  await page.getByRole('textbox', { name: 'Message' }).pressSequentially('I can write');
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('I can write');
  await lastTurn(page)
    .getByText(`word${many - 1}.`)
    .waitFor();
  end.open();
  await lastTurn(page).getByText('The end.').waitFor();
  const seen = await page.evaluate(() => (window as unknown as { seen: Record<string, number> }).seen);
  // other changes, such as those of a hint, come on top
  expect(seen.changes).toBeLessThanOrEqual((seen.frames ?? 0) + 50);
  expect(seen.changes).toBeLessThan(many / 2);
  expect(await lastTurn(page).getByText('Event of the application').count()).toBeLessThan(200);
  await lastTurn(page)
    .getByRole('button', { name: /Show \d+ earlier parts/ })
    .waitFor();
  expect(faults).toEqual([]);
});

test('an answer continues when the service is killed and started again', async () => {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as { port: number };
  await new Promise((resolve) => free.close(resolve));
  const folder = new ChaosFolder();
  const options = { folder, settings: { port, leaseMs: 1000 } };
  const first = await ChaosProcess.start(options);
  const { page } = await bench.open('/chat/agent/held', { url: first.url });
  await say(page, 'end');
  await lastTurn(page).getByText('Begun').waitFor();
  await first.kill();
  await lastTurn(page).getByText('The connection was lost').waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill('typed while it was down');
  await ChaosProcess.start(options);
  folder.release('end');
  await lastTurn(page).getByText('Begun and done.', { exact: true }).waitFor();
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('typed while it was down');
  // what is shown is what is stored
  await page.reload();
  await lastTurn(page).getByText('Begun and done.', { exact: true }).waitFor();
});

/** How often React continued to render meanwhile. */
function renderedWithin(page: Page, ms: number): Promise<number> {
  return page.evaluate(async (pause) => {
    const { postMessage } = MessagePort.prototype;
    let tasks = 0;
    MessagePort.prototype.postMessage = function (message) {
      tasks += 1;
      postMessage.call(this, message);
    };
    await new Promise((resolve) => setTimeout(resolve, pause));
    MessagePort.prototype.postMessage = postMessage;
    return tasks;
  }, ms);
}

test('a session that is opened again renders nothing while nothing happens', async () => {
  const { page } = await bench.open('/chat/agent/talker');
  await say(page, scripts.write('Hello', 'Good morning'));
  await lastTurn(page).getByText('Good morning').waitFor();
  await page.reload();
  await lastTurn(page).getByText('Good morning').waitFor();
  await until('the page rests', async () => (await renderedWithin(page, 300)) === 0);
  // a count that is always zero would prove nothing
  await until('what is typed is rendered', async () => {
    const rendered = renderedWithin(page, 300);
    await page.getByRole('textbox', { name: 'Message' }).fill('');
    await page.getByRole('textbox', { name: 'Message' }).fill('Hello again');
    return (await rendered) > 0;
  });
});

test('the chat is accessible in both themes and fits into 360 pixels: empty, with an answer, with its sessions', async () => {
  const { page } = await bench.open('/chat/agent/talker');
  await page.getByRole('heading', { name: 'Talker', level: 1 }).waitFor();
  await checkPage(page);
  const table = '| a | b |\n|---|---|\n| 1 | 2 |';
  const code = '```\ncode that is as long as a line of code may be in the window of a wide editor\n```';
  scripts.write('Show', {
    reasoning: 'Hm.',
    text: `# Title\n\n[link](https://example.com)\n\n${table}\n\n${code}`,
  });
  await say(page, 'Show');
  await lastTurn(page).getByText('tokens').waitFor();
  await checkPage(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole('button', { name: 'Sessions' }).click();
  await page.getByRole('dialog').getByRole('link', { name: /Show/ }).first().waitFor();
  await checkPage(page);
});
