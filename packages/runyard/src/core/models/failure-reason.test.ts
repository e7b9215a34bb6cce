import { expect, test } from 'vitest';
import { modelErrorOf } from './ai-sdk/failure.js';
import { ModelError } from './model-error.js';
import { errorFromResponse, errorFromStream } from './provider/call/provider-failure.js';

const reasonOf = (status: number, error: unknown) => {
  const response = { status, statusText: '', headers: new Headers() };
  return errorFromResponse('P', response, JSON.stringify({ error }), (text) => text).reason;
};

// as the providers write them
test.each([
  [
    'Anthropic',
    400,
    { type: 'invalid_request_error', message: 'prompt is too long: 215000 tokens > 200000 maximum' },
  ],
  [
    'Anthropic, with the answer',
    400,
    { message: 'input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000' },
  ],
  ['Anthropic, in bytes', 413, { type: 'request_too_large', message: 'Request exceeds the maximum size' }],
  ['a proxy, in bytes', 413, { message: 'Payload Too Large' }],
  ['OpenAI', 400, { code: 'context_length_exceeded', message: 'Too long' }],
  ['OpenAI Responses', 400, { message: 'Your input exceeds the context window of this model.' }],
  [
    'Google',
    400,
    {
      code: 400,
      status: 'INVALID_ARGUMENT',
      message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    },
  ],
  ['xAI', 400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  [
    'DeepSeek, vLLM',
    400,
    { message: "This model's maximum context length is 65536 tokens. However, you requested 70000." },
  ],
  [
    'Mistral',
    400,
    { message: 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length' },
  ],
  ['Groq', 400, { message: 'Please reduce the length of the messages or completion.' }],
  [
    'llama.cpp',
    400,
    { type: 'exceed_context_size_error', message: 'the request exceeds the available context size' },
  ],
  ['Bedrock', 400, { message: 'Input is too long for requested model.' }],
  ['Cohere', 400, { message: 'too many tokens: total number of tokens in the prompt cannot exceed 4081' }],
])('a prompt that is too long for a model of %s', (_provider, status, error) => {
  expect(reasonOf(status, error)).toBe('context_overflow');
});

test.each([
  ['by status', 429, { message: 'slow down' }],
  [
    'Groq, for one long request',
    413,
    { code: 'rate_limit_exceeded', message: 'Request too large: tokens per minute' },
  ],
  ['no credit', 403, { code: 'insufficient_quota', message: 'You exceeded your current quota' }],
  ['Google', 429, { status: 'RESOURCE_EXHAUSTED', message: 'Quota exceeded' }],
])('a limit of requests or tokens: %s', (_provider, status, error) => {
  expect(reasonOf(status, error)).toBe('rate_limit');
});

test.each([
  ['an overload', 529, { type: 'overloaded_error', message: 'Overloaded' }],
  ['a wrong key', 401, { message: 'Incorrect API key' }],
  ['a long page of a proxy', 502, { message: 'the maximum context length of this log is 10 lines' }],
  ['a limit of something else', 400, { message: 'max_tokens is too large: 100000' }],
])('%s is an error like any other', (_what, status, error) => {
  expect(reasonOf(status, error)).toBe('error');
});

test('the reason is found in a stream, and in what the AI SDK throws', () => {
  const same = (text: string) => text;
  expect(errorFromStream('P', { code: 'rate_limit_exceeded', message: 'wait' }, same).reason).toBe(
    'rate_limit',
  );
  expect(errorFromStream('P', { code: 'context_length_exceeded', message: 'long' }, same).reason).toBe(
    'context_overflow',
  );
  const thrown = Object.assign(new Error('busy'), { statusCode: 429, responseBody: '' });
  expect(modelErrorOf('P', thrown).reason).toBe('rate_limit');
  expect(new ModelError('busy', { provider: 'P', kind: 'refused', status: 429 }).reason).toBe('rate_limit');
});
