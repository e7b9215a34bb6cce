import { expect, test } from 'vitest';
import { agent, step, team, workflow } from '../../../src/index.js';
import { interfaceHint } from '../../../src/interfaces/interfaces.js';
import { agui, aiSdk, openaiApi, slack } from '../../../src/interfaces.js';
import { loadSettings } from '../../../src/platform/settings/config.js';
import { Gatehouse } from '../../support/clients/tokens.js';
import { refusalOf } from '../../support/clients/ws-client.js';
import { startService } from '../../support/service.js';

const writer = agent({ id: 'writer', model: 'offline' });
const components = {
  agents: [writer, agent({ id: 'editor', model: 'offline' })],
  teams: [team({ id: 'crew', model: 'offline', members: [writer] })],
  workflows: [workflow({ id: 'flow', steps: [step({ name: 'write', agent: writer })] })],
};

test('an unknown component: the answer names the known ones', async () => {
  const service = await startService({ ...components, a2a: true, agui: true });
  for (const [path, hint] of [
    ['/agents/writr', 'Agents here: writer, editor'],
    ['/teams/none', 'Teams here: crew'],
    ['/workflows/none/runs/x', 'Workflows here: flow'],
    ['/agents/writr/runs', 'Agents here: writer, editor'],
  ] as const) {
    expect(await service.get(path)).toMatchObject({ status: 404, body: { hint } });
  }
  // an interface that is off, and the address of A2A without a component or without the slash at its end
  for (const [path, hint] of [
    ['/mcp', /^MCP is off here.*mcp: true/],
    ['/v1/chat/completions', /^OpenAI is off here.*openai: true/],
    ['/slack/events', /^Slack is off here.*slack\({ agent/],
    ['/api/chat', /^AI SDK is off here.*RUNYARD_AI_SDK=true/],
    ['/agui', /\/agui\/agents\/{id}/],
    ['/a2a', /\/a2a\/agents\/{id}\//],
    ['/a2a/agents/.well-known/agent-card.json', /slash at its end/],
    ['/.well-known/agent-card.json', /address of a component/],
  ] as const) {
    expect(await service.get(path)).toMatchObject({
      status: 404,
      body: { hint: expect.stringMatching(hint) },
    });
  }
  expect((await service.get('/nowhere')).body.hint).toBeUndefined();
  const run = await service.run('writr', { message: 'Hello' });
  expect(run).toMatchObject({
    status: 404,
    body: { detail: 'Agent not found', hint: 'Agents here: writer, editor' },
  });
});

test('a WebSocket where that interface is off: the answer says how to turn it on', async () => {
  const service = await startService({
    agents: [...components.agents, agent({ id: 'ws', model: 'offline' })],
  });
  for (const path of ['/teams/ws', '/workflows/ws']) {
    const { status, body } = await refusalOf(service.url, path);
    const hint = 'WebSocket is off here. To turn it on, set websocket: true or RUNYARD_WEBSOCKET=true.';
    expect([status, JSON.parse(body)]).toEqual([
      404,
      expect.objectContaining({ error_code: 'not_found', hint }),
    ]);
    // a component of that name may be meant
    expect(await service.get(path)).toMatchObject({ status: 404, body: { detail: /Team|Workflow/ } });
  }
  expect((await refusalOf(service.url, '/agents/ws')).status).toBe(200);
  expect(JSON.parse((await refusalOf(service.url, '/agents/none')).body)).toMatchObject({
    detail: 'Agent not found',
  });
});

test('a WebSocket at a path of another interface: the answer is that of a request', async () => {
  const service = await startService({ ...components, a2a: true, openai: true });
  for (const [path, answer] of [
    ['/v1/models/none', { error: { code: 'model_not_found' } }],
    ['/a2a/agents/none/.well-known/agent-card.json', { detail: 'Agent not found' }],
  ] as const) {
    const { status, body } = await refusalOf(service.url, path);
    expect([status, JSON.parse(body)]).toMatchObject([404, answer]);
  }
});

test('a wrong path of an interface: the answer has the paths that it has here', async () => {
  const interfaces = [
    aiSdk({ agent: writer }),
    agui({ agent: writer }),
    slack({ agent: writer, token: 'xoxb-1', signingSecret: 'secret' }),
    openaiApi({ prefix: '/openai/v1' }),
  ];
  const { settings } = loadSettings();
  for (const [path, hint] of [
    ['/api/chat/agents/writer', 'Give useChat the path /api/chat.'],
    ['/agui/agents/writer', 'AG-UI clients post to /agui.'],
    ['/slack/install', expect.stringMatching(/\/slack\/events .*install needs the option oauth/)],
    ['/chat/completions', expect.stringContaining('the address of the service with /openai/v1.')],
    ['/openai/v1/v1/chat/completions', expect.stringContaining('/openai/v1.')],
    ['/a2a', expect.stringMatching(/^A2A is off here/)],
    ['/', undefined],
  ] as const)
    expect(interfaceHint(path, interfaces, settings), path).toEqual(hint);
});

test('an unknown component: the answer names only what the caller may read or run', async () => {
  const gatehouse = await Gatehouse.open(components);
  const seenWith = async (path: string, ...scopes: string[]) => {
    const { status, body, text } = await (await gatehouse.person('ada', scopes)).get(path);
    return { status, hint: body.hint, namesEditor: text.includes('editor') };
  };
  const paths = ['/agents/none', '/agents/none/runs', '/agents/none/runs/x'];
  for (const path of paths) {
    // a caller who may do this to one component alone is refused before anything is looked up
    expect(await seenWith(path, 'agents:writer:read', 'agents:writer:run')).toEqual({
      status: 403,
      hint: undefined,
      namesEditor: false,
    });
    expect(await seenWith(path, 'agents:none:read', 'agents:none:run', 'agents:writer:run')).toEqual({
      status: 404,
      hint: 'Agents here: writer',
      namesEditor: false,
    });
    expect(await seenWith(path, 'agents:none:read', 'agents:none:run')).toEqual({
      status: 404,
      hint: undefined,
      namesEditor: false,
    });
    expect(await seenWith(path, 'agents:read', 'agents:run')).toMatchObject({
      hint: 'Agents here: writer, editor',
    });
  }
});

test('a misspelt field: a header says what was meant, also when the request has no other fault', async () => {
  const service = await startService(components);
  const hint = async (form: object) =>
    (await service.run('writer', { stream: false, ...form })).headers.get('x-runyard-hint');
  expect(await hint({ mesage: 'Hello' })).toBe('unknown field "mesage": did you mean "message"?');
  expect(await hint({ message: 'Hello', sesion_id: 's' })).toBe(
    'unknown field "sesion_id": did you mean "session_id"?',
  );
  expect(await hint({ message: 'Hello', colour: 'red' })).toBeNull();
  const { body } = await service.get('/openapi.json');
  const { responses } = body.paths['/agents/{agent_id}/runs'].post;
  const described = { headers: { 'x-runyard-hint': { 'x-addition': true } } };
  expect(responses).toMatchObject({ 200: described, 202: described });
  expect(body.components.responses.InvalidRequest).toMatchObject(described);
});

test('the service introduces itself', async () => {
  const service = await startService(components);
  expect((await service.get('/info')).body).toMatchObject({
    product: 'Runyard',
    version: expect.any(String),
  });
});
