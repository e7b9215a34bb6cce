import { afterEach, describe, expect, it } from 'vitest';
import { type ModelServer, startModelServer, textChunk } from '../../../test/support/model-server.js';
import type { ModelRequest } from './model.js';
import { ModelError } from './model-error.js';
import { describeModel, resolveModel } from './resolve.js';
import { scriptedModel } from './scripted.js';

const request: ModelRequest = {
  messages: [{ id: '1', role: 'user', content: 'Hello', createdAt: 0 }],
  tools: [],
  media: { put: async () => '', get: async () => undefined },
};
const options = { signal: new AbortController().signal };
let server: ModelServer | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function refusal(name: string, environment = {}): Promise<string> {
  const error = await resolveModel(name, environment)
    .generate(request, options)
    .catch((reason) => reason);
  expect(error).toBeInstanceOf(ModelError);
  return error.message;
}

describe('resolveModel', () => {
  it('leaves a model as it is', () => {
    const model = scriptedModel([]);
    expect(resolveModel(model)).toBe(model);
  });

  it('describes names at once, without keys', () => {
    expect(describeModel('offline')).toEqual({ id: 'offline', provider: 'Runyard', name: 'Offline' });
    expect(describeModel('openai:gpt-5-mini')).toEqual({
      id: 'gpt-5-mini',
      provider: 'OpenAI',
      name: 'OpenAICompatible',
    });
    expect(describeModel('ollama:llama3.2:3b')).toMatchObject({ id: 'llama3.2:3b', provider: 'Ollama' });
    expect(describeModel('nobody:x')).toMatchObject({ id: 'x', provider: 'nobody' });
    expect(resolveModel('groq:llama', {})).toMatchObject({ id: 'llama', provider: 'Groq' });
  });

  it('calls the offline model', async () => {
    const response = await resolveModel('offline', {}).generate(request, options);
    expect(response.content).toContain('offline model');
  });

  it('calls a compatible server at the address and with the key of the environment', async () => {
    server = await startModelServer(() => ({ events: [textChunk('Hi')] }));
    const environment = { RUNYARD_MODEL_BASE_URL: server.url, RUNYARD_MODEL_API_KEY: ' sk-123456 ' };
    const model = resolveModel('openai-compatible:my-model', environment);
    for (const _ of [1, 2]) {
      const texts: string[] = [];
      for await (const chunk of model.stream(request, options))
        if (chunk.type === 'text') texts.push(chunk.text);
      expect(texts).toEqual(['Hi']);
    }
    expect(server.requests[1]?.body.model).toBe('my-model');
    expect(server.requests[1]?.headers.authorization).toBe('Bearer sk-123456');
  });

  it('says at the first call what to set, and works once it is set', async () => {
    expect(await refusal('openai:gpt-5-mini')).toBe(
      "Model 'openai:gpt-5-mini' cannot be called yet. Set OPENAI_API_KEY to your OpenAI key.",
    );
    expect(await refusal('openai-compatible:x')).toContain('Set RUNYARD_MODEL_BASE_URL to the address');
    server = await startModelServer(() => ({ body: { choices: [{ message: { content: 'ok' } }] } }));
    const environment: Record<string, string> = { OPENAI_BASE_URL: server.url };
    const model = resolveModel('openai:x', environment);
    await expect(model.generate(request, options)).rejects.toThrow('OPENAI_API_KEY');
    environment.OPENAI_API_KEY = 'sk-1';
    await expect(model.generate(request, options)).resolves.toMatchObject({ content: 'ok' });
  });

  it('lists what is supported for a name it does not know', async () => {
    expect(await refusal('nobody:x')).toMatch(
      /^Model 'nobody:x' names an unknown provider\. Supported: offline, openai:<model>, ollama:<model>/,
    );
    expect(await refusal('gpt-5-mini')).toMatch(/^Model 'gpt-5-mini' names no provider\./);
    expect(await refusal('constructor:x')).toContain('unknown provider');
    expect(await refusal('openai:', { OPENAI_API_KEY: 'x' })).toContain('Write openai:<model>');
  });
});
