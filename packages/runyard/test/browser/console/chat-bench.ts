// functions that run in the page use its types
/// <reference lib="dom" />
import type { Page } from 'playwright-core';
import { z } from 'zod';
import {
  agent,
  agentFactory,
  knowledge,
  type RunyardOptions,
  router,
  step,
  team,
  tool,
  workflow,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { askUser, getUserInput } from '../../../src/tools.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { type ConsoleBench, consoleBench } from './open-console.js';

export interface ChatBench extends ConsoleBench {
  /** What the agents answer. */
  readonly book: ScriptBook;
}

/** A service with components that do everything that a chat shows. */
export function chatBench(options: RunyardOptions = {}): ChatBench {
  const book = new ScriptBook();
  const bench = consoleBench({ ...components(book), ...options });
  return Object.defineProperty(bench, 'book', { value: book });
}

function components(book: ScriptBook): RunyardOptions {
  const add = tool({
    name: 'add',
    description: 'Adds numbers',
    inputSchema: z.object({ left: z.number(), right: z.number() }),
    execute: ({ left, right }) => ({ sum: left + right }),
  });
  const refund = tool({
    name: 'refund',
    description: 'Refunds',
    inputSchema: z.object({ euros: z.number() }),
    requiresConfirmation: true,
    execute: ({ euros }) => `refunded ${euros}`,
  });
  const print = tool({
    name: 'print',
    description: 'Prints',
    inputSchema: z.object({ copies: z.number() }),
    externalExecution: true,
  });
  const wire = tool({
    name: 'wire',
    description: 'Sends money',
    inputSchema: z.object({ amount: z.number() }),
    approval: 'required',
    execute: ({ amount }) => `sent ${amount}`,
  });
  const clerk = agent({
    id: 'clerk',
    name: 'Clerk',
    description: 'Does the paperwork: “File this for me”',
    model: book.model,
    tools: [add, refund, print, wire, getUserInput(), askUser()],
    addHistoryToContext: true,
  });
  const thought = { title: 'Count', action: 'I count', result: 'Three', reasoning: 'One by one' };
  const thoughts = scriptedModel(() =>
    JSON.stringify({ ...thought, next_action: 'final_answer', confidence: 0.9 }),
  );
  const thinker = agent({
    id: 'thinker',
    name: 'Thinker',
    model: scriptedModel(() => 'Three.'),
    reasoningModel: thoughts,
  });
  const reader = agent({
    id: 'reader',
    name: 'Reader',
    model: book.model,
    knowledge: knowledge({
      name: 'handbook',
      contents: [{ name: 'delivery.md', from: { text: '# Delivery\n\nA lamp takes **two** days.' } }],
    }),
  });
  const translator = agentFactory({
    id: 'translator',
    name: 'Translator',
    inputSchema: z.object({ language: z.string().min(2), formal: z.boolean().default(true) }),
    build: ({ input }) =>
      agent({
        name: 'Translator',
        model: book.model,
        instructions: `${input.language} ${input.formal ? 'formal' : 'familiar'}`,
      }),
  });
  const members = ['Ada', 'Grace'].map((name) =>
    agent({ id: name.toLowerCase(), name, role: 'Answers', model: book.model }),
  );
  let failures = 1;
  return {
    name: 'Yard',
    agents: [clerk, thinker, reader, translator],
    teams: [team({ id: 'crew', name: 'Crew', model: book.model, mode: 'broadcast', members })],
    workflows: [
      workflow({ id: 'desk', name: 'Desk', steps: [step({ name: 'serve', agent: clerk })] }),
      workflow({
        id: 'letter',
        name: 'Letter',
        inputSchema: z.object({ to: z.string().min(1), pages: z.number().int().default(1) }),
        steps: [
          step({ name: 'draft', run: () => 'A draft', review: { requiresOutputReview: true } }),
          router({
            name: 'way',
            choices: [
              step({ name: 'by post', run: () => 'posted' }),
              step({ name: 'by pigeon', run: () => 'flown' }),
            ],
            select: 'user',
          }),
          step({
            name: 'stamp',
            onError: 'pause',
            maxRetries: 0,
            run: () => {
              failures -= 1;
              if (failures >= 0) throw new Error('No stamps left');
              return 'stamped';
            },
          }),
          step({
            name: 'sign',
            run: ({ previousStepOutputs }) => `Signed: ${String(previousStepOutputs.draft?.content)}`,
          }),
        ],
      }),
    ],
  };
}

/** Writes a message and sends it with the keyboard. */
export async function say(page: Page, message: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill(message);
  // the answer before it may not have ended, although all of its text is there
  await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
  await page.keyboard.press('Enter');
}

/** The turns of the conversation. The answers of members within them are articles, too. */
export function turns(page: Page) {
  return page.getByRole('log').locator('article[id^="run-"]');
}

/** The newest turn. */
export function lastTurn(page: Page) {
  return turns(page).last();
}

/** For a page: counts in `data-calls` of its root how often it has called other tabs. */
export function countCalls(): void {
  const { postMessage } = BroadcastChannel.prototype;
  let calls = 0;
  BroadcastChannel.prototype.postMessage = function (message) {
    calls += 1;
    document.documentElement.dataset.calls = String(calls);
    postMessage.call(this, message);
  };
}
