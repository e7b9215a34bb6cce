import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type ModelServer,
  startModelServer,
  textChunk,
} from '../../../test/support/providers/model-server.js';
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
    expect(describeModel('openai:gpt-5-mini', {})).toEqual({
      id: 'gpt-5-mini',
      provider: 'OpenAI',
      name: 'OpenAIResponses',
    });
    expect(describeModel('anthropic:claude-opus-5-5')).toMatchObject({
      provider: 'Anthropic',
      name: 'Anthropic',
    });
    expect(describeModel('google:gemini-3.8-flash')).toEqual(describeModel('gemini:gemini-3.8-flash'));
    expect(describeModel('ai-sdk:mistral:large:2')).toEqual({
      id: 'large:2',
      provider: 'mistral',
      name: 'AiSdk',
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
      /^Model 'nobody:x' names an unknown provider\. Supported: offline, openai:<model>, anthropic:<model>/,
    );
    expect(await refusal('gpt-5-mini')).toMatch(/^Model 'gpt-5-mini' names no provider\./);
    expect(await refusal('constructor:x')).toContain('unknown provider');
    expect(await refusal('openai:', { OPENAI_API_KEY: 'x' })).toContain('Write openai:<model>');
  });

  it('knows which models reason by themselves', () => {
    const reasoning = (name: string) => resolveModel(name, {}).capabilities.reasoning;
    expect(reasoning('openai:o3')).toBe(true);
    expect(reasoning('openai:gpt-4o')).toBe(false);
    expect(reasoning('anthropic:claude-sonnet-5-5')).toBe(true);
    expect(reasoning('anthropic:claude-sonnet-4-5')).toBe(false);
    expect(reasoning('gemini:gemini-2.5-pro')).toBe(true);
    expect(reasoning('gemini:gemini-2.0-flash')).toBe(false);
  });

  it.each([
    [
      'anthropic:a',
      'ANTHROPIC',
      { type: 'message', content: [{ type: 'text', text: 'ok' }] },
      '/v1/messages',
    ],
    [
      'gemini:a',
      'GEMINI',
      { candidates: [{ content: { parts: [{ text: 'ok' }] }, finishReason: 'STOP' }] },
      '/v1/models/a:generateContent',
    ],
    ['openai:a', 'OPENAI', { choices: [{ message: { content: 'ok' } }] }, '/v1/chat/completions'],
  ])('calls %s at the address and with the key of the environment', async (name, prefix, body, path) => {
    server = await startModelServer([{ body }]);
    const environment = { [`${prefix}_BASE_URL`]: server.url, [`${prefix}_API_KEY`]: 'sk-123456' };
    const response = await resolveModel(name, environment).generate(request, options);
    expect(response.content).toBe('ok');
    expect(server.requests[0]?.path).toBe(path);
    expect(JSON.stringify(server.requests[0]?.headers)).toContain('sk-123456');
  });

  it('speaks the Responses API to OpenAI itself', async () => {
    const seen: string[] = [];
    const fetch = vi.spyOn(globalThis, 'fetch').mockImplementation(async (url) => {
      seen.push(String(url));
      return Response.json({ object: 'response', status: 'completed', output: [] });
    });
    try {
      for (const environment of [{}, { OPENAI_BASE_URL: 'https://eu.api.openai.com/v1' }]) {
        const model = resolveModel('openai:gpt-5-mini', { OPENAI_API_KEY: 'sk-1', ...environment });
        await model.generate(request, options);
      }
    } finally {
      fetch.mockRestore();
    }
    expect(seen).toEqual(['https://api.openai.com/v1/responses', 'https://eu.api.openai.com/v1/responses']);
  });

  it('names the keys that are missing', async () => {
    expect(await refusal('anthropic:x')).toContain('Set ANTHROPIC_API_KEY to your Anthropic key.');
    expect(await refusal('gemini:x')).toContain('Set GEMINI_API_KEY or GOOGLE_API_KEY to your Google key.');
    const model = resolveModel('google:x', { GOOGLE_API_KEY: 'k', GEMINI_BASE_URL: 'http://127.0.0.1:9' });
    await expect(model.generate(request, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
      'enough',
    );
  });

  it('takes models from packages of the AI SDK that the application has installed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'packages-'));
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(folder);
    try {
      expect(await refusal('ai-sdk:pretend:x')).toBe(
        "Model 'ai-sdk:pretend:x' needs the package @ai-sdk/pretend. Install it: npm install @ai-sdk/pretend",
      );
      expect(await refusal('ai-sdk:pretend')).toContain('Write ai-sdk:<provider>:<model>');
      const packageFolder = join(folder, 'node_modules/@ai-sdk/pretend');
      await mkdir(packageFolder, { recursive: true });
      await writeFile(join(packageFolder, 'package.json'), '{"name":"@ai-sdk/pretend","main":"index.cjs"}');
      await writeFile(join(packageFolder, 'index.cjs'), pretendPackage);
      const response = await resolveModel('ai-sdk:pretend:parrot').generate(request, options);
      expect(response.content).toBe('parrot says hello');
    } finally {
      cwd.mockRestore();
      await rm(folder, { recursive: true });
    }
  });
});

const pretendPackage = `
const languageModel = (modelId) => ({
  specificationVersion: 'v3', provider: 'pretend', modelId,
  doGenerate: async () => ({
    content: [{ type: 'text', text: modelId + ' says hello' }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
  }),
  doStream: async () => ({}),
});
exports.createPretend = () => pretend;
const pretend = (modelId) => languageModel(modelId);
pretend.languageModel = languageModel;
exports.pretend = pretend;
`;
