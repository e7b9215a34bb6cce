import { expect, test } from 'vitest';
import { anonymousCaller, type BoundValues } from '../../../platform/auth/caller.js';
import { runForms } from '../schema.js';
import { type FormContext, runRequestOf } from './run-request.js';
import { followingOf } from './started-run.js';

const fields = {
  message: 'hi',
  stream: 'false',
  session_id: 's',
  dependencies: '{"city":"Paris","role":"guest"}',
  knowledge_filters: '{"a": 1}',
  tone: 'warm',
};

/** A token that fixes the session, the state and one dependency. */
const bound: BoundValues = {
  sessionId: 't',
  sessionState: { plan: 'pro' },
  dependencies: { role: 'admin' },
  claimNames: { dependencies: ['role'], sessionState: ['plan'] },
};

function read(kind: 'agent' | 'workflow', given: object, context: FormContext = {}, token: BoundValues = {}) {
  const form = runForms[kind].create.parse(given);
  const caller = { ...anonymousCaller, bound: token };
  return runRequestOf(caller, { kind, componentId: 'c' }, form, followingOf(form, 'continue'), context);
}

test('a form becomes one request, with fields that Runyard does not know as extra', async () => {
  const request = await read('agent', { ...fields, background: 'true' });
  expect(request).toMatchObject({ userId: null, sessionId: 's', stream: false, background: true });
  expect(request.input).toEqual({
    content: 'hi',
    media: [],
    options: {
      stream: true,
      streamed: false,
      dependencies: { city: 'Paris', role: 'guest' },
      knowledgeFilters: { a: 1 },
      extra: { tone: 'warm' },
    },
  });
});

test('a workflow passes fields that only agents have to its steps unchanged', async () => {
  const { input } = await read('workflow', { ...fields, additional_data: 'more' });
  expect(input.options.knowledgeFilters).toBeUndefined();
  expect(input.options.extra).toEqual({
    knowledge_filters: '{"a": 1}',
    tone: 'warm',
    additional_data: 'more',
  });
});

test('what a token fixes takes the place of the form', async () => {
  const { sessionId, input } = await read('agent', fields, {}, bound);
  expect(sessionId).toBe('t');
  expect(input.options).toMatchObject({ dependencies: { role: 'admin' }, sessionState: { plan: 'pro' } });
  const unset = { claimNames: bound.claimNames! };
  const { input: other } = await read(
    'agent',
    { ...fields, session_state: '{"plan":"free","a":1}' },
    {},
    unset,
  );
  expect(other.options).toMatchObject({ dependencies: { city: 'Paris' }, sessionState: { a: 1 } });
});

// another hash for the same request would refuse repeated requests of the last 24 hours after an update
test('a key identifies the same request as in earlier versions', async () => {
  const context = { idempotencyKey: 'k' };
  const { idempotency } = await read('agent', fields, context);
  expect(idempotency).toMatchObject({ userId: null, kind: 'agent', componentId: 'c', key: 'k' });
  expect(idempotency?.payload).toBe('881210038446392ecc93507670779b5d446780277b89be9650f7d0a22f2a80d5');
  const other = await read('agent', fields, context, bound);
  expect(other.idempotency?.payload).toBe('ce51145195ec7e5a23e367bf545a9e0bf11399603f09bc6ee8f163f3468607ce');
});

test.each([{}, { output_schema: '{"type":"object","properties":{"a":{"type":"string"}}}' }])(
  'a key of the state that is too long is refused, with a schema for the output as without: %o',
  async (schema) => {
    const state = (key: string) => ({
      message: 'hi',
      session_state: JSON.stringify({ [key]: 1 }),
      ...schema,
    });
    await expect(read('agent', state('k'.repeat(255)))).resolves.toMatchObject({ userId: null });
    await expect(read('agent', state('k'.repeat(256)))).rejects.toMatchObject({ status: 422 });
  },
);

test('a schema for the output that cannot be used is refused', async () => {
  const given = { message: 'hi', output_schema: '{"type":"nothing"}' };
  await expect(read('agent', given)).rejects.toMatchObject({ status: 422 });
});
