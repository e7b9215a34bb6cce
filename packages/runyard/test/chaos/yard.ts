import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  agent,
  type Message,
  type Model,
  type ModelRequest,
  Runyard,
  type RunyardOptions,
  tool,
} from 'runyard';
import { type ScriptedAnswer, scriptedModel } from 'runyard/testing';

/**
 * The service that the chaos tests start and kill. What it does follows from the message alone, never from what
 * this process did before, so a process that takes over goes the same way. Files in a folder are how a test holds
 * it, releases it, and counts what it did.
 */
const { CHAOS_FOLDER: folder = '.', CHAOS_DATABASE: database, CHAOS_SETTINGS: settings = '{}' } = process.env;
/** A service with a route of its own starts slower: it has one only for the test that asks for it. */
const isMeasured = process.env.CHAOS_MEASURED !== undefined;

/** Waits until the test has made the file of this name. */
async function released(name: string): Promise<void> {
  while (!existsSync(join(folder, `release-${name}`)))
    await new Promise((resolve) => setTimeout(resolve, 10));
}

/** What a test counts. */
function note(effect: string, idempotencyKey: string): void {
  appendFileSync(join(folder, 'effects'), `${effect}\t${idempotencyKey}\t${process.pid}\n`);
}

const flags = { step: {}, charge: { sideEffects: true }, peek: { readOnly: true } };

/** Each leaves a trace when it begins, and ends when the test lets it: `hold` in its arguments says under which name. */
const tools = Object.entries(flags).map(([name, flag]) =>
  tool({
    name,
    description: 'Leaves a trace',
    inputSchema: { type: 'object', properties: { hold: { type: 'string' } } },
    ...flag,
    execute: async ({ hold }, { idempotencyKey }) => {
      note(name, idempotencyKey);
      if (hold !== undefined) await released(String(hold));
      return `${name} did its work`;
    },
  }),
);

/** `plan: step, charge@gate` calls one tool after the other, the second one held by the file `release-gate`. */
function followPlan({ messages }: ModelRequest): ScriptedAnswer {
  const start = messages.findLastIndex(({ role }) => role === 'user');
  const calls = (messages[start] as Message).content.replace('plan:', '').split(',');
  const done = messages.slice(start).filter(({ role }) => role === 'tool').length;
  const next = calls[done]?.trim();
  if (next === undefined) return { text: `All ${done} steps are done.` };
  const [name = '', hold] = next.split('@');
  return { text: `Now ${name}. `, toolCalls: [{ name, arguments: hold === undefined ? {} : { hold } }] };
}

const echo: Model = scriptedModel(({ messages }) => `Answer to: ${messages.at(-1)?.content}`);
const planner: Model = scriptedModel(followPlan);
/** Begins to speak, then waits. */
const held: Model = scriptedModel(({ messages }) => ({
  chunks: ['Begun', released(messages.at(-1)?.content ?? ''), ' and done.'],
}));
/** Sends as many events as the message says, each of two kilobytes. */
const sayMuch = tool({
  name: 'say_much',
  description: 'Sends events',
  inputSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
  execute: async ({ count }, { emit }) => {
    for (let number = 0; number < Number(count); number += 1) {
      emit({ number, padding: '.'.repeat(2000) });
      if (number % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return 'said';
  },
});
const flood: Model = scriptedModel(({ messages }) => {
  const last = messages.at(-1)!;
  if (last.role === 'tool') return 'That was all.';
  return { toolCalls: [{ name: 'say_much', arguments: { count: Number(last.content) } }] };
});

/** What is held in memory after a garbage collection. */
async function heldMemory(): Promise<{ held: number }> {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return { held: heapUsed + external };
}

const memoryRoute: NonNullable<RunyardOptions['routes']> = (server) => void server.get('/memory', heldMemory);

export const app = new Runyard({
  port: 0,
  dataDir: folder,
  ...(database !== undefined && { database }),
  autoMigrate: true,
  logFormat: 'json',
  logLevel: 'warn',
  agents: [
    agent({ id: 'echo', model: echo }),
    agent({ id: 'planner', model: planner, tools }),
    agent({ id: 'held', model: held }),
    agent({ id: 'flood', model: flood, tools: [sayMuch] }),
  ],
  ...(isMeasured && { routes: memoryRoute }),
  ...(JSON.parse(settings) as object),
});
