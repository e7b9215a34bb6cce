import { expect, test } from 'vitest';
import { silentLog } from '../../log.js';
import type { Model, ModelChunk, ModelResponse } from '../../models/model.js';
import { promised } from '../../receiver.js';
import type { StepScope } from '../../runs/context.js';
import { codeOwner, runAsOwner } from '../../runs/execution/code-owner.js';
import { runContent } from '../agent-events.js';
import type { AgentExecution } from '../execution.js';
import { AnswerReader } from './answer-reader.js';

const response: ModelResponse = {
  content: 'ab',
  toolCalls: [],
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  finishReason: 'stop',
};
const pieces: ModelChunk[] = [
  { type: 'text', text: 'a' },
  { type: 'text', text: 'b' },
];
const whole: ModelChunk[] = [...pieces, { type: 'response', response }];

/** Reads what a model of the application streams. */
function reading(stream: () => unknown, congestion: () => Promise<void> | undefined = () => undefined) {
  const seen: string[] = [];
  const owner = { log: silentLog, facts: { component: 'a', step: 'model' } };
  const context = {
    callApplication: <T>(_what: string, work: () => T) => runAsOwner(owner, work),
    emitDelta: (_event: unknown, text: string) =>
      void seen.push(`${text}${codeOwner() ? ' by the model' : ''}`),
    congestion,
    draft: { content: '' },
    observer: {
      modelAnswered: () => void seen.push('answered'),
      modelFailed: () => void seen.push('failed'),
    },
  };
  const execution = { agent: { settings: {} }, context, soFar: {} } as unknown as AgentExecution;
  const model = { id: 'm', provider: 'p', stream } as unknown as Model;
  const call = { model, request: {} as never, delta: runContent('', 'str'), draft: true };
  const answer = promised<{ content: string }>((receiver) =>
    new AnswerReader(execution, call, receiver).begin({} as StepScope),
  );
  return { answer, seen };
}

/** An iterator that says what is asked of it. */
function watched(chunks: readonly unknown[], closed: () => Promise<unknown> = async () => ({})) {
  const asked: string[] = [];
  let position = 0;
  const iterator = {
    next: async () => {
      asked.push(codeOwner() === undefined ? 'next of nobody' : 'next');
      const value = chunks[position++];
      return { done: position > chunks.length, value };
    },
    return: () => {
      asked.push('return');
      return closed();
    },
  };
  return { asked, stream: () => ({ [Symbol.asyncIterator]: () => iterator }) };
}

test('the pieces are shown in order, and the model is told that no more is read', async () => {
  const { asked, stream } = watched(whole);
  const { answer, seen } = reading(stream);
  expect(await answer).toMatchObject({ content: 'ab' });
  // what the run does with a piece is not the work of the model
  expect(seen).toEqual(['', 'a', 'b', 'answered']);
  expect(asked).toEqual(['next', 'next', 'next', 'return']);
});

test('a list of pieces, or of promises of them, is as good as a stream', async () => {
  const { answer, seen } = reading(() => whole.map((chunk) => Promise.resolve(chunk)));
  expect(await answer).toMatchObject({ content: 'ab' });
  expect(seen).toEqual(['', 'a', 'b', 'answered']);
});

test('a stream that ends without a response has failed, and is not ended once more', async () => {
  const { asked, stream } = watched(pieces);
  const { answer, seen } = reading(stream);
  await expect(answer).rejects.toThrow('The model m ended its stream without a response');
  expect(seen).toEqual(['', 'a', 'b', 'failed']);
  expect(asked).toEqual(['next', 'next', 'next']);
});

test.each([
  ['is no text', { type: 'text', text: 7 }, 'a piece of text is'],
  ['is nothing', undefined, ''],
])('a piece that %s ends the stream, whatever the model makes of that', async (_what, chunk, message) => {
  const { asked, stream } = watched([chunk, ...whole], () => Promise.reject(new Error('not now')));
  const { answer, seen } = reading(stream);
  const failure = await answer.then(() => undefined, String);
  expect(failure).toContain(message);
  expect(failure).not.toContain('not now');
  expect(seen).toEqual(['failed']);
  expect(asked).toEqual(['next', 'return']);
});

test('a model that fails is not told anything more', async () => {
  const failing = async function* () {
    yield* pieces;
    throw new Error('cut off');
  };
  const { answer, seen } = reading(failing);
  await expect(answer).rejects.toThrow('cut off');
  expect(seen).toEqual(['', 'a', 'b', 'failed']);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('no stream');
    },
  ],
  [
    'gives an iterator that throws',
    () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => {
          throw new Error('no stream');
        },
      }),
    }),
  ],
])('a model that %s has failed', async (_what, stream) => {
  const { answer, seen } = reading(stream);
  await expect(answer).rejects.toThrow('no stream');
  expect(seen).toEqual(['failed']);
});

test('a model whose stream cannot be ended after its response has failed', async () => {
  const { stream } = watched(whole, () => Promise.reject(new Error('still open')));
  const { answer, seen } = reading(stream);
  await expect(answer).rejects.toThrow('still open');
  expect(seen).toEqual(['', 'a', 'b', 'failed']);
});

test('while too much waits to be stored, no more is read', async () => {
  const { asked, stream } = watched(whole);
  let stored = (): void => {};
  const waiting = new Promise<void>((resolve) => {
    stored = resolve;
  });
  let looks = 0;
  const { answer } = reading(stream, () => (looks++ === 0 ? waiting : undefined));
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toEqual(['next']);
  stored();
  expect(await answer).toMatchObject({ content: 'ab' });
});

test('what cannot be stored ends the stream', async () => {
  const { asked, stream } = watched(whole);
  const { answer } = reading(stream, () => Promise.reject(new Error('no database')));
  await expect(answer).rejects.toThrow('no database');
  expect(asked).toEqual(['next', 'return']);
});
