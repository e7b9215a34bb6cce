import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { jsonMismatch, textMismatch } from './answers.js';
import { allPages, type Block, type Page } from './pages.js';
import type { Outcome } from './programs.js';
import { programs, Sandbox, services } from './sandbox.js';

afterAll(() => Promise.all([programs.end(), services.end()]));

const pages = allPages().filter(({ blocks }) => blocks.some(({ words }) => words.length > 0));

describe('the blocks that a page marks do what it says', () => {
  test.each(pages.map((page) => [page.path, page] as const))('%s', async (_path, page) => {
    const sandbox = await Sandbox.make();
    onTestFinished(() => sandbox.remove());
    let last: Outcome | undefined;
    for (const block of page.blocks) {
      if (block.words.includes('answer')) expectAnswer(page, block, last);
      else last = (await perform(page, block, sandbox)) ?? last;
    }
  });
});

async function perform(page: Page, block: Block, sandbox: Sandbox): Promise<Outcome | undefined> {
  if (block.words.includes('app')) return void (await sandbox.startService(block));
  if (block.words.includes('serve')) return void (await sandbox.serve(block));
  if (!block.words.includes('run')) return undefined;
  if (block.text.includes(':7777') && !sandbox.hasService) await sandbox.startService();
  const outcome = await sandbox.run(block);
  expect(outcome.code, `${place(page, block)} failed:\n${outcome.output}${outcome.errors}`).toBe(0);
  const statuses = [...outcome.errors.matchAll(/^status (\d+)$/gm)];
  const wanted = block.words.find((word) => word.startsWith('status='))?.slice('status='.length) ?? '200';
  if (statuses.length > 0) {
    expect(statuses.at(-1)![1], `${place(page, block)} answered:\n${outcome.output}`).toBe(wanted);
  }
  return outcome;
}

function expectAnswer(page: Page, block: Block, last: Outcome | undefined): void {
  const output = last?.output ?? '';
  const mismatch =
    block.language === 'json'
      ? jsonMismatch(JSON.parse(block.text), JSON.parse(output))
      : textMismatch(block.text, output);
  expect(mismatch, `${place(page, block)} shows something else`).toBeUndefined();
}

function place(page: Page, block: Block): string {
  return `${page.path}:${block.line}`;
}
