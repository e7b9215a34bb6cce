import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { person } from '../../../../../test/support/clients/callers.js';
import {
  interfaceSite,
  McpClient,
  type McpClientOptions,
  textOf,
} from '../../../../../test/support/clients/mcp-client.js';
import { TestService } from '../../../../../test/support/service.js';
import { gate } from '../../../../../test/support/until.js';
import { agent, knowledge, tool, toolkit, toolResult } from '../../../../index.js';
import { scriptedModel } from '../../../../testing.js';

const sent: string[] = [];

const tools = [
  tool({
    name: 'whoami',
    description: 'Who calls',
    inputSchema: z.object({ user_id: z.string().optional(), greeting: z.string() }),
    readOnly: true,
    execute: ({ user_id: user, greeting }) => `${greeting} ${user ?? 'nobody'}`,
  }),
  tool({
    name: 'mine',
    description: 'What the caller has',
    inputSchema: z.object({ user_id: z.string() }),
    execute: ({ user_id: user }) => `All of ${user}`,
  }),
  tool({
    name: 'sum',
    description: 'Adds',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
    execute: ({ a, b }) => ({ sum: a + b }),
  }),
  tool({
    name: 'send',
    description: 'Sends a letter',
    sideEffects: true,
    execute: (_args, { idempotencyKey }) => `sent ${sent.push(idempotencyKey)}`,
  }),
  toolkit({
    name: 'kit',
    prefix: 'kit_',
    tools: [
      tool({
        name: 'draw',
        description: 'Draws',
        execute: () => toolResult('drawn', { media: [{ kind: 'image', bytes: new Uint8Array([1, 2]) }] }),
      }),
      tool({
        name: 'slow',
        description: 'Takes its time',
        async execute(_args, context) {
          await context.progress(0.5, 'half');
          await context.emit({ said: 'hello' });
          await context.progress(1, 'all');
          return 'done';
        },
      }),
      tool({
        name: 'ask',
        description: 'Asks a person',
        async execute(_args, { ask }) {
          const fields = [{ name: 'size', type: 'str', schema: { enum: ['S', 'M'] } }] as const;
          return JSON.stringify(await ask({ message: 'Which size?', fields }));
        },
      }),
    ],
  }),
  tool({
    name: 'fails',
    description: 'Fails',
    execute: () => {
      throw new Error('no ink');
    },
  }),
];

const probe = interfaceSite();
let service: TestService;
const clients: McpClient[] = [];

beforeAll(async () => {
  const base = knowledge({ name: 'Handbook', description: 'Company handbook' });
  service = await TestService.start({
    interfaces: [probe.defined],
    agents: [agent({ id: 'assistant', model: scriptedModel([]) })],
    knowledge: [base, knowledge({ name: 'Other' })],
  });
});

afterAll(async () => {
  for (const client of clients) await client.close();
  await service.stop();
});

async function connected(options: McpClientOptions = {}): Promise<McpClient> {
  const client = await McpClient.connect(probe.site(), { options: { tools }, ...options });
  clients.push(client);
  return client;
}

test('are listed behind the built-in tools, without the parameter that is the caller', async () => {
  const { client } = await connected();
  const listed = (await client.listTools()).tools.slice(8);
  expect(listed.map(({ name }) => name)).toEqual([
    'whoami',
    'mine',
    'sum',
    'send',
    'kit_draw',
    'kit_slow',
    'kit_ask',
    'fails',
  ]);
  expect(listed[0]).toMatchObject({
    annotations: { readOnlyHint: true },
    inputSchema: { required: ['greeting'] },
  });
  expect(Object.keys(listed[0]?.inputSchema.properties ?? {})).toEqual(['greeting']);
  expect(listed[2]?.outputSchema).toMatchObject({ type: 'object', required: ['sum'] });
  expect(listed[3]?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
});

test('know who calls, whatever the client says, and need no scope', async () => {
  const ada = await connected({ caller: person('ada', []) });
  expect(textOf(await ada.call('whoami', { greeting: 'Hi', user_id: 'eve' }))).toBe('Hi ada');
  expect(textOf(await ada.call('mine'))).toBe('All of ada');
  expect(await (await connected()).failure('mine', { user_id: 'eve' })).toContain(
    'needs the id of its caller',
  );
  expect(textOf(await (await connected()).call('whoami', { greeting: 'Hi', user_id: 'eve' }))).toBe(
    'Hi nobody',
  );
});

test('answer with text, data, media and failures', async () => {
  const client = await connected();
  expect(await client.call('sum', { a: 1, b: 2 })).toMatchObject({
    content: [{ type: 'text', text: '{"sum":3}' }],
    structuredContent: { sum: 3 },
    isError: false,
  });
  expect((await client.call('kit_draw')).content).toEqual([
    { type: 'text', text: 'drawn' },
    { type: 'image', data: 'AQI=', mimeType: 'image/png' },
  ]);
  expect(await client.failure('fails')).toContain('no ink');
  expect(await client.failure('sum', { a: 'x', b: 2 })).toContain('a: ');
});

test('tell their progress and further messages', async () => {
  const client = await connected();
  const logged: unknown[] = [];
  client.client.setNotificationHandler(
    'notifications/message',
    ({ params }) => void logged.push(params.data),
  );
  expect(textOf(await client.watched('kit_slow', {}))).toBe('done');
  expect(client.progress).toMatchObject([
    { progress: 0.5, message: 'half' },
    { progress: 1, message: 'all' },
  ]);
  expect(logged).toEqual([{ said: 'hello' }]);
});

test('ask the person at the client, if it shows forms', async () => {
  const forms: unknown[] = [];
  const client = await connected({
    person: (form) => {
      forms.push(form);
      return { action: 'accept', content: { size: 'M' } };
    },
  });
  expect(JSON.parse(textOf(await client.call('kit_ask')))).toEqual({
    action: 'accept',
    values: { size: 'M' },
  });
  expect(forms).toMatchObject([
    { message: 'Which size?', requestedSchema: { properties: { size: { enum: ['S', 'M'] } } } },
  ]);
  expect(await (await connected()).failure('kit_ask')).toContain('no elicitation');
});

test('with an effect are not executed twice when a request is dispatched again', async () => {
  const again = await connected({ call: { runId: 'call-1', isRepeated: true } });
  expect(await again.failure('send')).toContain('was not executed again');
  expect(textOf(await again.call('whoami', { greeting: 'Hi' }))).toBe('Hi nobody');
  const once = await connected({ call: { runId: 'call-2' } });
  expect((await once.call('send')).isError).toBe(false);
  expect(sent).toEqual(['call-2']);
});

test('that wait for a person, or have the name of a built-in tool, are refused at the start', async () => {
  const execute = () => 'x';
  const gated = tool({ name: 'pay', description: 'Pays', requiresConfirmation: true, execute });
  await expect(connected({ options: { tools: [gated] } })).rejects.toThrow("tool 'pay' waits for a person");
  const same = tool({ name: 'run_agent', description: 'Runs', execute });
  await expect(connected({ options: { tools: [same] } })).rejects.toThrow('the name of a built-in tool');
  const alone = await connected({ options: { tools: [same], builtinTools: false } });
  expect((await alone.client.listTools()).tools.map(({ name }) => name)).toEqual(['run_agent']);
  expect((await alone.client.listPrompts()).prompts).toEqual([]);
});

test('are stopped when the client cancels its request, and nothing of it is an error of the service', async () => {
  const began = gate();
  const stopped = gate();
  const endless = tool({
    name: 'endless',
    description: 'Never ends by itself',
    execute: (_args, { signal }) => {
      signal.addEventListener('abort', () => stopped.open());
      began.open();
      return new Promise(() => {});
    },
  });
  const client = await connected({ options: { tools: [endless] } });
  const controller = new AbortController();
  const call = client.call('endless', {}, controller.signal);
  await began.opened;
  controller.abort();
  await expect(call).rejects.toThrow();
  await stopped.opened;
  expect(service.logged.filter(({ level }) => level === 'error')).toEqual([]);
});

test('come from sources, too: one that fails costs its own tools alone', async () => {
  const open = tool({ name: 'near', description: 'Near', execute: () => 'here' });
  const gated = tool({ name: 'far', description: 'Far', requiresConfirmation: true, execute: () => 'there' });
  const source = { name: 'source', tools: async () => [open, gated], close: async () => {} };
  const broken = { ...source, name: 'broken', tools: () => Promise.reject(new Error('no route')) };
  const client = await connected({ options: { tools: [source, broken], includeTags: [] } });
  expect((await client.client.listTools()).tools.map(({ name }) => name)).toEqual(['near']);
  expect(textOf(await client.call('near'))).toBe('here');
  expect(await client.failure('far')).toBe("Unknown tool: 'far'");
});

test('knowledge: contents are resources, and a template searches a knowledge base', async () => {
  const { client } = await connected();
  const [base, other] = probe.site().services.knowledge.registered;
  const text = 'Vacation has to be requested two weeks before.';
  const added = await service.submit(`/knowledge/content?knowledge_id=${base?.id}`, {
    text_content: text,
    name: 'Vacation',
  });
  const { id } = added.body;
  const status = async () =>
    (await service.get(`/knowledge/content/${id}/status?knowledge_id=${base?.id}`)).body.status;
  await expect.poll(status).toBe('completed');
  const first = await client.listResources();
  expect(first.resources).toMatchObject([
    { name: 'Vacation', uri: `knowledge://${base?.id}/contents/${id}` },
  ]);
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    `knowledge://${base?.id}/search{?query}`,
    `knowledge://${other?.id}/search{?query}`,
  ]);
  const read = async (uri: string) => {
    const [contents] = (await client.readResource({ uri })).contents;
    return JSON.parse(contents && 'text' in contents ? contents.text : '');
  };
  expect(await read(`knowledge://${base?.id}/contents/${id}`)).toMatchObject({ id, status: 'completed' });
  const found = await read(`knowledge://${base?.id}/search?query=vacation%20requested`);
  expect(found.data).toMatchObject([{ content: text, content_id: id }]);
  const extra = await connected({ options: { includeTags: ['extra'] } });
  const searched = await extra.call('search_knowledge', { query: 'vacation', knowledge_id: base?.id });
  expect(searched.data.data).toHaveLength(1);
  for (const uri of [
    `knowledge://${base?.id}/contents/none`,
    'knowledge://none/search?query=x',
    'file:///etc/passwd',
  ])
    await expect(client.readResource({ uri })).rejects.toThrow('not found');
  const limited = await connected({ caller: person('ada', ['agents:run']) });
  expect((await limited.client.listResources()).resources).toEqual([]);
  await expect(
    limited.client.readResource({ uri: `knowledge://${base?.id}/contents/${id}` }),
  ).rejects.toThrow('knowledge:read');
});
