import { expect, test } from 'vitest';
import { errors } from '../../../core/errors/errors.js';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { deltaTemplate, serialiseDelta } from '../../../core/runs/events/logged-event.js';
import { ChunkReader } from './chunks.js';
import { noTokens, type Outcome } from './outcome.js';

const head = { runId: 'run-1', model: 'clerk', createdAt: 0 };

function template(runId: string) {
  const event = {
    event: 'RunContent',
    content: '',
    workflow_agent: false,
    content_type: 'str',
    reasoning_content: '',
  } as const;
  return deltaTemplate(event, { event: 'RunContent', run_id: runId });
}

const outcome = (content: string): Outcome => ({
  content,
  refusal: null,
  reasoning: undefined,
  toolCalls: [],
  annotations: [],
  finishReason: 'stop',
  usage: noTokens,
  runyard: {},
});

/** All objects of a stream whose run writes these pieces, each of its own run unless it is named. */
async function objectsOf(
  pieces: readonly (string | [string, string])[],
  rested: () => Promise<Outcome>,
): Promise<JsonObject[]> {
  const events = pieces.map((piece, index) => {
    const [runId, text] = typeof piece === 'string' ? [head.runId, piece] : piece;
    return serialiseDelta(index, template(runId), text);
  });
  const batches = [events, null];
  const reader = new ChunkReader({
    head,
    events: { next: async () => batches.shift() ?? null, close: () => {} },
    includeUsage: false,
    isWhole: false,
    rested,
  });
  const objects: JsonObject[] = [];
  for (let some = await reader.next(); some !== null; some = await reader.next()) objects.push(...some);
  return objects;
}

function textIn(objects: readonly JsonObject[]): string {
  return objects
    .flatMap(({ choices }) => (Array.isArray(choices) ? choices : []))
    .map((choice) => (isJsonObject(choice) && isJsonObject(choice.delta) ? (choice.delta.content ?? '') : ''))
    .join('');
}

test.each([
  ['the answer', ['', 'Half ', 'of it'], 'Half of it', 'Half of it'],
  ['the text of a member is no part of it', ['', ['run-2', 'Mine'], 'Yours'], 'Yours', 'Yours'],
  [
    'what was written before a crash stands apart',
    ['', 'Half', '', 'All of it'],
    'All of it',
    'Half\n\nAll of it',
  ],
  ['what the stream did not carry follows', ['', 'Half '], 'Half of it', 'Half of it'],
  ['an answer that a hook changed follows', ['', 'Hello'], 'Goodbye', 'Hello\n\nGoodbye'],
  ['data that is written otherwise is the same', ['', '{"a": 1}'], '{"a":1}', '{"a": 1}'],
] as const)('%s', async (_what, pieces, content, text) => {
  expect(textIn(await objectsOf(pieces as never, async () => outcome(content)))).toBe(text);
});

test('a run that another process continues is the last object of the stream', async () => {
  const run = { ...head, sessionId: 's', kind: 'agent', componentId: 'clerk' } as const;
  const objects = await objectsOf(['', 'Half'], () => Promise.reject(errors.runHandedOn(run)));
  expect(objects.at(-1)).toMatchObject({ error: { code: 'run_handed_on', run_id: 'run-1' } });
});
