import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import { ensureBuilt, ensureInstalled, root } from './lib/setup.mjs';

/** Takes the picture of the console that the README opens with: `node scripts/console-picture.mjs`. */
await ensureInstalled();
await ensureBuilt();
const { agent, Runyard, tool } = await import('../packages/runyard/bundle/index.js');
const { scriptedModel } = await import('../packages/runyard/bundle/testing.js');
const { z } = await import('zod');

const question = 'Can the lamp of order 1001 still be returned?';
const answer = `Yes. The **linen lamp** arrived on 3 November, so it can be returned until **3 December**.

| Order | Item | Delivered | Days left |
|---|---|---|---:|
| 1001 | Linen lamp | 3 November | 16 |
| 1002 | Oak chair | 27 October | 9 |

Print the label under *My orders*; the money is back within five working days.`;

const orderStatus = tool({
  name: 'order_status',
  description: 'Looks an order up.',
  inputSchema: z.object({ number: z.number().int() }),
  execute: ({ number }) => ({ number, item: 'Linen lamp', delivered: '2026-11-03', euros: 79 }),
});

/** Calls the tool and answers with the table; other messages get a sentence. */
const model = scriptedModel(
  ({ messages }) => {
    const { role, content } = messages.at(-1) ?? {};
    if (role === 'tool') return { text: answer, usage: { inputTokens: 1204, outputTokens: 188 } };
    if (content !== question) return 'Here is what I found.';
    const usage = { inputTokens: 812, outputTokens: 31 };
    return { toolCalls: [{ name: 'order_status', arguments: { number: 1001 } }], usage };
  },
  { id: 'gpt-5-mini', provider: 'openai' },
);

const dataDir = mkdtempSync(join(tmpdir(), 'runyard-picture-'));
const app = new Runyard({
  name: 'Lamp shop',
  dataDir,
  port: 0,
  logLevel: 'error',
  agents: [
    agent({ id: 'support', name: 'Support', model, description: 'Knows every order.', tools: [orderStatus] }),
  ],
});
let browser;
try {
  const { url } = await app.listen();
  for (const message of [
    'Where is my parcel?',
    'Do you repair lamps?',
    'Is the oak chair back in stock?',
    'Opening hours in December',
  ])
    await (await app.runs.start({ agent_id: 'support', message })).result();
  browser = await chromium.launch({ executablePath: browserPath(), args: ['--no-sandbox', '--disable-gpu'] });
  const page = await browser.newPage({
    viewport: { width: 1200, height: 800 },
    deviceScaleFactor: 1.5,
    colorScheme: 'light',
    reducedMotion: 'reduce',
  });
  await page.goto(`${url}/console/chat/agent/support`);
  await page.getByRole('textbox', { name: 'Message' }).fill(question);
  await page.keyboard.press('Enter');
  await page.getByText('tokens').waitFor();
  await page.getByRole('button', { name: /Tool call/ }).click();
  await page.getByRole('navigation', { name: 'Sessions' }).getByText(question).waitFor();
  await page.mouse.move(0, 0);
  await page.getByRole('log').evaluate((log) => log.scrollTo(0, 0));
  await page.screenshot({ path: `${root}docs/console.png` });
} finally {
  await browser?.close();
  await app.close();
  rmSync(dataDir, { recursive: true, force: true });
}

function browserPath() {
  const { RUNYARD_TEST_CHROMIUM: given, PATH = '' } = process.env;
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const paths = names.flatMap((name) => PATH.split(delimiter).map((folder) => join(folder, name)));
  const found = given ?? paths.find((path) => existsSync(path));
  if (found === undefined) throw new Error('No Chromium: install one, or name it in RUNYARD_TEST_CHROMIUM.');
  return found;
}
