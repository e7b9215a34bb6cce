import { expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { agent } from '../../../library.js';
import type { Model } from '../../models/model.js';
import { scriptedModel } from '../../models/scripted.js';
import type { TextTransform } from '../answer/text-transform.js';
import type { AgentSettings } from '../definition.js';
import { TransformedText } from './transformed-text.js';

/** Replaces a word, also where it comes in two pieces. */
const redact: TextTransform = async function* redact(pieces, { runId, signal }) {
  expectTypeOf(runId).toEqualTypeOf<string>();
  expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
  let held = '';
  for await (const piece of pieces) {
    held += piece;
    const end = held.lastIndexOf(' ') + 1;
    yield held.slice(0, end).replaceAll('secret', '[…]');
    held = held.slice(end);
  }
  yield held.replaceAll('secret', '[…]');
};

const shout: TextTransform = async function* (pieces) {
  for await (const piece of pieces) yield piece.toUpperCase();
};

async function streamed(settings: Partial<AgentSettings>) {
  const component = agent({ name: 'A', model: 'offline', ...settings });
  const pieces: string[] = [];
  const events: string[] = [];
  let content: unknown;
  for await (const event of component.stream('Go')) {
    events.push(event.event);
    if (event.event === 'RunContent' && event.content !== '') pieces.push(String(event.content));
    if (event.event === 'RunCompleted' || event.event === 'RunError') content = event.content;
  }
  return { pieces, content, events };
}

const model = () => scriptedModel([{ chunks: ['The se', 'cret is a sec', 'ret.'] }]);

it('readers, the result and the stored conversation have the transformed text', async () => {
  const { pieces, content } = await streamed({ model: model(), textTransforms: [redact, shout] });
  expect(pieces.join('')).toBe('THE […] IS A […].');
  expect(pieces.length).toBeGreaterThan(1);
  expect(content).toBe('THE […] IS A […].');
  const output = await agent({ name: 'A', model: model(), textTransforms: [redact, shout] }).run('Go');
  expect(output.content).toBe('THE […] IS A […].');
  expect(output.messages.at(-1)?.content).toBe('THE […] IS A […].');
});

it('a guardrail checks the transformed text, and nothing is shown before that', async () => {
  const checked: unknown[] = [];
  const run = ({ content }: { content: unknown }) => void checked.push(content);
  const postHooks = [{ name: 'guard', required: true, run }] as const;
  const { pieces, events } = await streamed({ model: model(), textTransforms: [shout], postHooks });
  expect(checked).toEqual(['THE SECRET IS A SECRET.']);
  expect(pieces).toEqual(['THE SECRET IS A SECRET.']);
  expect(events.indexOf('RunContent')).toBeGreaterThan(events.indexOf('PostHookCompleted'));
});

it('what another model writes from the answer is transformed, and an object is not', async () => {
  const outputModel = scriptedModel(['a final word']);
  const { content } = await streamed({ model: model(), outputModel, textTransforms: [shout] });
  expect(content).toBe('A FINAL WORD');
  const outputSchema = z.object({ city: z.string() });
  const shaped = agent({
    name: 'A',
    model: scriptedModel(['{"city":"Rome"}']),
    outputSchema,
    textTransforms: [shout],
  });
  expect((await shaped.runOrThrow('Go')).content).toEqual({ city: 'Rome' });
});

it.each<[string, TextTransform, string]>([
  [
    'that throws',
    async function* broken(pieces) {
      for await (const _ of pieces) throw new Error('boom');
      yield '';
    },
    "The text transform 'broken' failed: boom",
  ],
  [
    'that yields no text',
    async function* wrong() {
      yield 7 as never;
    },
    "The text transform 'wrong' failed: it yielded a number, not a text.",
  ],
  ['that is no generator', (() => undefined) as never, 'A text transform failed: '],
  [
    'without an end',
    async function* endless() {
      for (;;) yield 'x'.repeat(10_000);
    },
    'The text transforms made more than ',
  ],
])('a transform %s ends the run, and no model is called again', async (_, transform, message) => {
  const used = scriptedModel(() => 'The secret is a secret.');
  const settings = {
    model: used,
    retries: 3,
    fallbackModels: [scriptedModel(['other'])],
    textTransforms: [transform],
  };
  const { content } = await streamed(settings);
  expect(content).toContain(message);
  const output = await agent({ name: 'A', ...settings }).run('Go');
  expect(output).toMatchObject({ status: 'error', error: { code: 'text_transform_error' } });
  expect(used.requests).toHaveLength(2);
});

it('what a model says in the end counts, and places in its own text are not those in the other one', async () => {
  const citations = { sources: [{ url: 'https://example.com', title: 'A', start: 0, end: 3 }] };
  const said = scriptedModel([{ chunks: ['half'], citations }]);
  const differing: Model = {
    ...said,
    async *stream(request, options) {
      for await (const chunk of said.stream(request, options))
        yield chunk.type === 'response'
          ? { ...chunk, response: { ...chunk.response, content: 'all of it' } }
          : chunk;
    },
  };
  const component = agent({ name: 'A', model: differing, textTransforms: [shout] });
  const run = await component.start('Go', { userId: 'ada' });
  const output = await run.result();
  expect(output.content).toBe('ALL OF IT');
  expect(output.citations).toEqual({ sources: [{ url: 'https://example.com', title: 'A' }] });
});

it('knows whose run it serves', async () => {
  const seen: unknown[] = [];
  const look: TextTransform = (pieces, { agentId, runId, sessionId, userId }) => {
    seen.push([agentId, runId, sessionId, userId]);
    return pieces;
  };
  const component = agent({ id: 'a', model: model(), textTransforms: [look] });
  const { runId } = await component.run('Go', { userId: 'ada', sessionId: 's' });
  expect(seen).toEqual([['a', runId, 's', 'ada']]);
});

it('is closed where it gave a piece that nobody takes', async () => {
  let tidied = false;
  const text = new TransformedText(async function* (pieces) {
    try {
      for await (const piece of pieces) {
        yield piece;
        yield piece;
      }
    } finally {
      tidied = true;
    }
  }, new AbortController().signal);
  for await (const _piece of text.take('a')) break;
  text.close();
  await expect.poll(() => tidied).toBe(true);
});

it('is closed when the answer breaks off', async () => {
  let tidied = false;
  const { signal } = new AbortController();
  const text = new TransformedText(async function* (pieces) {
    try {
      for await (const piece of pieces) yield piece;
    } finally {
      tidied = true;
    }
  }, signal);
  for await (const piece of text.take('a')) expect(piece).toBe('a');
  text.close();
  await expect.poll(() => tidied).toBe(true);
});

it('a run that is cancelled does not wait for a transform that hangs', async () => {
  const controller = new AbortController();
  const text = new TransformedText(async function* () {
    await new Promise(() => {});
    yield '';
  }, controller.signal);
  const reading = text.take('a')[Symbol.asyncIterator]().next();
  controller.abort(new Error('cancelled'));
  await expect(reading).rejects.toThrow('cancelled');
});
