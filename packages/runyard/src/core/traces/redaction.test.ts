import { expect, test } from 'vitest';
import { redactContent, redactSpans, traceRedaction } from './redaction.js';
import type { Span, SpanAttributes } from './span.js';

function spanWith(attributes: SpanAttributes, statusMessage: string | null = null): Span {
  return {
    spanId: '1'.repeat(16),
    traceId: '2'.repeat(32),
    parentSpanId: null,
    remoteParentId: null,
    name: 'look_up',
    kind: 'TOOL',
    status: statusMessage === null ? 'OK' : 'ERROR',
    statusMessage,
    startTime: 0,
    endTime: 1,
    runId: 'run-1',
    stepKey: 'tool:0:0',
    attributes,
  };
}

const shown = (rules: readonly string[], attributes: SpanAttributes) =>
  redactSpans(traceRedaction('full', rules), [spanWith(attributes)])[0]?.attributes;

test('secrets are removed by default, at any depth and in JSON within JSON', () => {
  const call = JSON.stringify({ headers: { Authorization: 'Basic x' }, api_key: 'k', city: 'Rome' });
  const messages = JSON.stringify({ messages: [{ tool_calls: [{ function: { arguments: call } }] }] });
  const attributes = shown([], {
    'input.value': messages,
    'output.value': 'Bearer abc.def and postgres://me:word@host/db',
    'llm.token_count.prompt': 7,
  });
  expect(attributes?.['input.value']).not.toMatch(/Basic x|"k"/);
  expect(attributes?.['input.value']).toContain('Rome');
  expect(attributes?.['output.value']).toBe('Bearer [removed] and postgres://me:[removed]@host/db');
  expect(attributes?.['llm.token_count.prompt']).toBe(7);
});

test('what holds nothing to remove stays as it was written', () => {
  const text = '{ "city":  "Rome", "n": 1.0 }';
  expect(shown(['phone'], { 'input.value': text })).toEqual({ 'input.value': text });
});

test('fields are named in any spelling', () => {
  const attributes = shown(['phone_number'], {
    'tool.parameters': '{"phoneNumber":"123","people":[{"PHONE-NUMBER":{"a":1}}],"phone":"5"}',
  });
  expect(attributes?.['tool.parameters']).toBe(
    '{"phoneNumber":"[removed]","people":[{"PHONE-NUMBER":"[removed]"}],"phone":"5"}',
  );
});

test('expressions apply to texts, to texts within JSON, and to errors', () => {
  const redaction = traceRedaction('full', ['/\\d{3}-\\d{2}/', '/rosebud/i']);
  const [span] = redactSpans(redaction, [
    spanWith({ 'input.value': '{"said":"call 123-45"}', 'output.value': 'ROSEBUD 999-99' }, 'no 111-22 here'),
  ]);
  expect(span?.attributes).toEqual({
    'input.value': '{"said":"call [removed]"}',
    'output.value': '[removed] [removed]',
  });
  expect(span?.statusMessage).toBe('no [removed] here');
});

test('a field without a value stays, and so does one with a name that objects have', () => {
  const attributes = shown(['phone'], {
    'input.value': '{"phone":null,"__proto__":{"phone":"5","city":"Rome"}}',
  });
  expect(attributes?.['input.value']).toBe('{"phone":null,"__proto__":{"phone":"[removed]","city":"Rome"}}');
});

test('each attribute has its own text, and numbers and flags stay', () => {
  const attributes = { 'tool.name': 'c', 'llm.token_count.prompt': 0, 'runyard.call.cached': false };
  expect(
    shown(['/\\d/'], { 'tool.parameters': 'a1', 'input.value': 'a1', 'output.value': 'b2', ...attributes }),
  ).toEqual({
    'tool.parameters': 'a[removed]',
    'input.value': 'a[removed]',
    'output.value': 'b[removed]',
    ...attributes,
  });
});

test('a match is found anywhere in a long text', () => {
  const redaction = traceRedaction('full', ['/needle-[0-9]+/']);
  for (let before = 1500; before < 2100; before += 7) {
    const text = `${'x'.repeat(before)}needle-12345${'y'.repeat(3000)}`;
    expect(redactContent(redaction, text)).toBe(`${'x'.repeat(before)}[removed]${'y'.repeat(3000)}`);
  }
});

test('without content, nothing of what was said or done is left', () => {
  const [span] = redactSpans(traceRedaction('none', []), [
    spanWith({
      'input.value': 'hi',
      'output.value': 'ho',
      'tool.parameters': '{}',
      'llm.input_messages.0.message.role': 'user',
      'llm.output_messages.0.message.content': 'ho',
      'gen_ai.input.messages': '[]',
      'gen_ai.tool.call.arguments': '{}',
      'gen_ai.tool.call.result': 'x',
      'tool.name': 'look_up',
      'llm.token_count.prompt': 7,
      'session.id': 's',
    }),
  ]);
  expect(span?.attributes).toEqual({
    'tool.name': 'look_up',
    'llm.token_count.prompt': 7,
    'session.id': 's',
  });
  expect(redactContent(traceRedaction('none', []), 'hi')).toBeUndefined();
});
