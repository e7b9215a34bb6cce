import { expect, test } from 'vitest';
import { z } from 'zod';
import { personalDataGuardrail } from '../../../src/guardrails.js';
import {
  agent,
  type ModelResponse,
  type Tool,
  ToolRefused,
  type ToolSource,
  tool,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { startService } from '../../support/service.js';

const usage = { inputTokens: 1_000_000, outputTokens: 100_000, totalTokens: 1_100_000 };

function calls(name: string, args: object = {}) {
  return { toolCalls: [{ id: 'call_1', name, arguments: JSON.stringify(args) }] };
}

const transfer = tool({
  name: 'transfer',
  description: 'Moves money',
  inputSchema: z.object({ amount: z.number() }),
  requiresConfirmation: true,
  approval: 'required',
  execute: () => expect.unreachable('a gated tool was executed'),
});

test('the cost of a run is the sum of its calls at the prices of the operator', async () => {
  const model = scriptedModel(
    [
      { ...calls('noop'), usage },
      { text: 'done', usage },
    ],
    { id: 'm-1', provider: 'Acme' },
  );
  const noop = tool({ name: 'noop', description: 'Does nothing', execute: () => 'ok' });
  const service = await startService({
    agents: [agent({ id: 'a', model, tools: [noop] })],
    prices: { 'acme:m-*': { input: 2, output: 10 } },
  });
  const { body } = await service.run('a', { message: 'go' });
  expect(body.metrics.cost).toBeCloseTo(6);
  expect(body.metrics.details.model).toMatchObject([
    { id: 'm-1', provider: 'Acme', cost: body.metrics.cost },
  ]);
});

test('a model without a price has no cost', async () => {
  const service = await startService({
    agents: [agent({ id: 'a', model: scriptedModel([{ text: 'x', usage }]) })],
  });
  const { body } = await service.run('a', { message: 'go' });
  expect(body.metrics).not.toHaveProperty('cost');
});

test('hooks of the agent wrap every tool call, outside the hooks of the tool', async () => {
  const seen: string[] = [];
  const double = tool({
    name: 'double',
    description: 'Doubles',
    inputSchema: z.object({ n: z.number() }),
    hooks: [
      async ({ args }, next) => {
        seen.push('tool');
        return next(args);
      },
    ],
    execute: ({ n }) => 2 * n,
  });
  const model = scriptedModel([calls('double', { n: 4 }), calls('double', { n: 13 }), 'done']);
  const service = await startService({
    agents: [
      agent({
        id: 'a',
        model,
        tools: [double],
        toolHooks: [
          async ({ args }, next) => {
            seen.push('agent');
            if (args.n === 13) throw new ToolRefused('Not this number.');
            return next({ n: Number(args.n) + 1 });
          },
        ],
      }),
    ],
  });
  const { body } = await service.run('a', { message: 'go' });
  expect(body.tools.map(({ result }: { result: string }) => result)).toEqual(['10', 'Not this number.']);
  expect(seen).toEqual(['agent', 'tool', 'agent']);
});

test('a gated tool is shown as such, and pauses the run instead of being announced', async () => {
  const service = await startService({
    agents: [
      agent({
        id: 'a',
        model: scriptedModel([calls('transfer', { amount: 7 }), 'sorry']),
        tools: [transfer],
      }),
    ],
  });
  const { body: shown } = await service.get('/agents/a');
  expect(shown.tools.tools).toMatchObject([
    { name: 'transfer', requires_confirmation: true, approval_type: 'required' },
  ]);
  const stream = await (await service.stream('a', { message: 'pay' })).end();
  expect(stream.names).not.toContain('ToolCallStarted');
  expect(stream.names.at(-1)).toBe('RunPaused');
});

test('what a model makes beside its text is in the run, and tool sources are closed with the service', async () => {
  let closed = 0;
  const source: ToolSource = {
    name: 'remote',
    tools: async (): Promise<readonly Tool[]> => [],
    close: async () => {
      closed += 1;
    },
  };
  const model = scriptedModel(['a picture']);
  const generate = model.generate.bind(model);
  model.generate = async (request, options): Promise<ModelResponse> => {
    const hash = await request.media.put(new TextEncoder().encode('pixels'));
    const media = [{ kind: 'image' as const, id: 'i1', hash, mimeType: 'image/png' }];
    return { ...(await generate(request, options)), media };
  };
  const service = await startService({ agents: [agent({ id: 'a', model, tools: [source] })] });
  const { body } = await service.run('a', { message: 'draw' });
  expect(body.images).toMatchObject([{ id: 'i1', mime_type: 'image/png', content: btoa('pixels') }]);
  await service.app.close({ graceMs: 0 });
  expect(closed).toBe(1);
});

test('a forced tool choice holds until a tool was called', async () => {
  const noop = tool({ name: 'noop', description: 'Does nothing', execute: () => 'ok' });
  const model = scriptedModel([calls('noop'), 'done']);
  const service = await startService({
    agents: [agent({ id: 'a', model, tools: [noop], toolChoice: 'required' })],
  });
  expect((await service.run('a', { message: 'go' })).body.content).toBe('done');
  expect(model.requests.map(({ toolChoice }) => toolChoice)).toEqual(['required', undefined]);
});

test('a guardrail on the output has the last word also in a stream: nothing is shown before it has spoken', async () => {
  const model = () => scriptedModel(['Write to bob@example.com']);
  const service = await startService({
    agents: [
      agent({ id: 'masks', model: model(), postHooks: [personalDataGuardrail({ mask: true })] }),
      agent({ id: 'refuses', model: model(), postHooks: [personalDataGuardrail()] }),
    ],
  });
  for (const id of ['masks', 'refuses']) {
    const stream = await (await service.stream(id, { message: 'who?' })).end();
    expect(JSON.stringify(stream.events)).not.toContain('bob@example.com');
    expect(stream.names).toContain(id === 'masks' ? 'RunCompleted' : 'RunError');
    if (id === 'masks') expect(stream.content).toMatch(/^Write to /);
  }
});
