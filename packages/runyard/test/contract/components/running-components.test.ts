import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agent, agentFactory, team, tool } from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { WsClient } from '../../support/clients/ws-client.js';
import { type Body, TestService } from '../../support/service.js';

/** Answers with its instructions, so that an answer shows which version gave it. Asks for a payment when asked to pay. */
const model = scriptedModel(
  ({ messages }) => {
    const system = messages.find(({ role }) => role === 'system')?.content;
    const isToPay = messages.at(-1)?.role === 'user' && String(messages.at(-1)?.content).startsWith('pay');
    return isToPay ? { toolCalls: [{ name: 'pay', arguments: {}, id: 'call' }] } : String(system);
  },
  { id: 'telling' },
);
const pay = tool({
  name: 'pay',
  description: 'Pays.',
  inputSchema: { type: 'object', properties: {} },
  requiresConfirmation: true,
  execute: () => 'paid',
});

const options = {
  agents: [
    agent({ id: 'coded', name: 'Coded', model, instructions: 'from code' }),
    agentFactory({ id: 'made', build: () => agent({ model }) }),
  ],
  teams: [team({ id: 'desk', model, members: [agent({ id: 'inner', model, instructions: 'inside' })] })],
  registry: { tools: [pay] },
  websocket: true,
};

let service: TestService;
beforeAll(async () => {
  service = await TestService.start(options);
});
afterAll(() => service.stop());

const json = (body: object) => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

async function sent(method: string, path: string, body: object): Promise<Body> {
  const { status, text, body: answer } = await service.call(method, path, json(body));
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
  return answer;
}

type Given = { stage?: string; type?: string; config?: object };

function create(
  id: string,
  instructions: string,
  { stage = 'published', type = 'agent', config }: Given = {},
) {
  return sent('POST', '/components', {
    ...{ name: id, component_id: id, component_type: type, stage },
    config: { name: id, model: { id: 'telling' }, instructions, ...config },
  });
}

function addVersion(id: string, instructions: string, { stage = 'published', config }: Given = {}) {
  const body = { stage, config: { name: id, model: { id: 'telling' }, instructions, ...config } };
  return sent('POST', `/components/${id}/configs`, body);
}

describe('a stored component', () => {
  it('runs in its current version, in a version that a run names, and as soon as one is published', async () => {
    await create('versions', 'one');
    expect((await service.run('versions', { message: 'hi' })).body.content).toBe('one');
    await addVersion('versions', 'two');
    expect((await service.run('versions', { message: 'hi' })).body.content).toBe('two');
    const { body: first } = await service.run('versions', { message: 'hi', version: 1 });
    expect(first).toMatchObject({ content: 'one', version: 1 });
    expect((await service.get(`/agents/versions/runs/${first.run_id}`)).body.version).toBe(1);
    const hint =
      "The agent 'versions' has no version 7. GET /components/versions/configs lists its versions.";
    expect(await service.run('versions', { message: 'hi', version: 7 })).toMatchObject({
      status: 404,
      body: { detail: 'Agent not found', hint },
    });
    const body = {
      agent_id: 'versions',
      version: 7,
      eval_type: 'accuracy',
      input: 'x',
      expected_output: 'y',
    };
    expect((await service.call('POST', '/eval-runs', json(body))).body.hint).toBe(hint);
    expect((await service.run('versions', { message: 'hi', version: 'x' })).body.detail[0]).toMatchObject({
      type: 'int_parsing',
      loc: ['body', 'version'],
    });
    expect((await service.submit('/teams/versions/runs', { message: 'hi', stream: false })).status).toBe(404);
    const { body: coded } = await service.run('coded', { message: 'hi', version: 7 });
    expect([coded.content, coded.version]).toEqual(['from code', undefined]);
  });

  it('has the name of the component if its configuration has none, and errors name it', async () => {
    const config = { model: { id: 'telling' }, instructions: 'one' };
    await sent('POST', '/components', {
      ...{ name: 'The Porter', component_id: 'porter', component_type: 'agent', stage: 'published', config },
    });
    expect((await service.run('porter', { message: 'hi' })).body.agent_name).toBe('The Porter');
    await sent('PATCH', '/components/porter', { name: 'The Usher' });
    expect((await service.get('/agents/porter')).body.name).toBe('The Usher');
    expect((await service.get('/agents/porter/config')).body).toMatchObject({ name: 'The Usher', config });
    expect((await service.get('/agents/portr')).body.hint).toMatch(/^Agents here: coded, made, .*porter/);
    await service.call('DELETE', '/components/porter');
    expect((await service.get('/agents/porter')).body.hint).not.toContain('porter');
  });

  it('shows its runs, sessions and traces like one of the code', async () => {
    await create('shown', 'one');
    const { body: run } = await service.run('shown', { message: 'hi' });
    expect((await service.get(`/agents/shown/runs/${run.run_id}`)).body.content).toBe('one');
    expect((await service.get('/agents/shown/runs')).body).toHaveLength(1);
    expect((await service.get(`/sessions/${run.session_id}`)).body).toMatchObject({ agent_id: 'shown' });
    expect((await service.call('POST', `/agents/shown/sessions/${run.session_id}/fork`)).status).toBe(200);
    expect((await service.call('POST', '/agents/shown/runs/none/cancel')).status).toBe(200);
    expect((await service.get('/agents/shown/runs/none')).status).toBe(404);
    expect((await service.get('/info')).body.orphaned_runs.count).toBe(0);
    expect((await service.get('/models')).body).toContainEqual({ id: 'telling', provider: 'Runyard' });
  });

  it('is listed with all others of its kind, those that cannot run with the reason', async () => {
    await create('list-team', 'lead', {
      type: 'team',
      config: { members: [{ type: 'agent', agent_id: 'coded' }] },
    });
    for (let at = 0; at < 25; at += 1)
      await create(`many-${at}`, 'one', { stage: at === 0 ? 'draft' : 'published' });
    await create('broken', 'one', { config: { tools: [{ name: 'gone', parameters: {} }] } });
    const { body: agents } = await service.get('/agents');
    expect(agents.filter(({ id }: Body) => id.startsWith('many-'))).toHaveLength(25);
    expect(agents[0]).toMatchObject({ id: 'coded', is_component: false });
    const listed = (id: string) => agents.find((one: Body) => one.id === id);
    expect(listed('many-0')).toMatchObject({ is_component: true, stage: 'draft' });
    expect(listed('many-0').current_version).toBeUndefined();
    expect(listed('many-1')).toMatchObject({ is_component: true, stage: 'published', current_version: 1 });
    expect(listed('broken').degraded).toMatch(/agent 'broken' cannot be built: tools\[0\].*'gone'/);
    const { body: teams } = await service.get('/teams');
    expect(teams).toMatchObject([
      { id: 'desk' },
      { id: 'list-team', members: [{ id: 'coded', is_component: false }] },
    ]);
    const refused = await service.run('broken', { message: 'hi' });
    expect([refused.status, refused.body.detail]).toEqual([422, listed('broken').degraded]);
    expect((await service.get('/agents/broken')).status).toBe(422);
    expect((await service.get('/agents/broken/runs')).status).toBe(200);
    await create('unmodelled', 'one', { config: { model: { id: 'nobody', provider: 'Nobody' } } });
    expect(await service.run('unmodelled', { message: 'hi' })).toMatchObject({
      status: 404,
      body: { detail: 'Agent not found' },
    });
  });

  it('shows the version that a request names', async () => {
    await create('detail', 'one');
    await addVersion('detail', 'two');
    expect((await service.get('/agents/detail')).body).toMatchObject({
      ...{ is_component: true, version: 2, stage: 'published' },
      system_message: { instructions: 'two' },
    });
    expect((await service.get('/agents/detail?version=1')).body.system_message.instructions).toBe('one');
    expect((await service.get('/agents/detail?version=3')).status).toBe(404);
  });

  it('continues in the version that it began with, also as a copy', async () => {
    const tools = [{ name: 'pay', parameters: {} }];
    await create('paying', 'one', { config: { tools } });
    const { body: paused } = await service.run('paying', { message: 'pay' });
    expect(paused.status).toBe('paused');
    await addVersion('paying', 'two', { config: { tools } });
    const answers = paused.tools.map((one: Body) => ({ ...one, confirmed: true }));
    const path = `/agents/paying/runs/${paused.run_id}/continue`;
    const { body: ended } = await service.submit(path, { tools: answers, stream: false });
    expect([ended.status, ended.content]).toEqual(['completed', 'one']);
    const { body: again } = await service.submit(path, { regenerate: true, stream: false });
    expect([again.run_id === ended.run_id, again.content]).toEqual([false, 'one']);
  });

  it('is a member in the version that its team pins, and else in the current one', async () => {
    await create('member', 'one');
    const members = [{ type: 'agent', agent_id: 'member' }];
    await create('pinning', 'lead', { type: 'team', config: { members } });
    await addVersion('member', 'two');
    const instructionsOf = async (team: string) =>
      (await service.get(`/teams/${team}`)).body.members[0].system_message.instructions;
    expect(await instructionsOf('pinning')).toBe('one');
    await addVersion('pinning', 'lead', { config: { members } });
    expect(await instructionsOf('pinning')).toBe('two');
  });

  it('can be a copy of a team whose members only the team has', async () => {
    const { body: copy } = await service.get('/teams/desk/config');
    await sent('POST', '/components', { ...copy, component_id: 'desk-copy' });
    expect((await service.get('/teams/desk-copy')).body.members).toMatchObject([{ id: 'inner' }]);
  });
});

describe('a change', () => {
  const degraded = async (answer: Promise<Body>) => (await answer).degraded;

  it('says why the component cannot run as it is now', async () => {
    await create('early', 'a member');
    const config = { members: [{ type: 'agent', agent_id: 'early' }] };
    const others = { members: [{ type: 'agent', agent_id: 'coded' }] };
    expect(await degraded(create('changed', 'one', { type: 'team', config }))).toBeUndefined();
    expect(await degraded(addVersion('changed', 'two', { config }))).toBeUndefined();
    expect(await degraded(addVersion('changed', 'three', { config: others }))).toBeUndefined();
    // nothing that runs refers to it now
    expect((await service.call('DELETE', '/components/early')).status).toBe(204);
    const back = '/components/changed/configs/2/set-current';
    expect(await degraded(sent('POST', back, {}))).toContain(
      "Version 2 of the team 'changed' cannot be built",
    );
    const absent = {
      config: { ...others, tools: [{ name: 'absent', parameters: { type: 'object', properties: {} } }] },
    };
    expect(await degraded(addVersion('changed', 'four', absent))).toContain('absent');
    expect(await degraded(sent('POST', '/components/changed/configs/3/set-current', {}))).toBeUndefined();
  });

  it('refuses a key that would get lost', async () => {
    const body = `{"name":"p","component_id":"proto","component_type":"agent","config":{"__proto__":{"a":1}}}`;
    const headers = { 'content-type': 'application/json' };
    const { status, body: answer } = await service.call('POST', '/components', { headers, body });
    expect([status, answer.detail[0].loc]).toEqual([422, ['body', 'config', '__proto__']]);
  });

  it('names the member whose model nobody has, and does not deny the team', async () => {
    await create('lacking', 'x', { config: { model: { id: 'nobody-has-it' } } });
    await create('staffed', 'x', {
      type: 'team',
      config: { members: [{ type: 'agent', agent_id: 'lacking' }] },
    });
    const { status, text } = await service.submit('/teams/staffed/runs', { message: 'hi', stream: false });
    expect(status).not.toBe(404);
    expect(text).toContain('members[0] → model');
  });

  it('names a model whose id leads to another address', async () => {
    const refused = await service.call('POST', '/components', {
      ...json({
        name: 'r',
        component_id: 'roaming',
        component_type: 'agent',
        config: { model: 'gemini:../../x' },
      }),
    });
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringContaining("'..' as a part of the model's id"),
    ]);
  });
});

describe('a draft', () => {
  it('does not join a new session that a published version begins at the same moment', async () => {
    await create('at-once', 'one');
    await addVersion('at-once', 'draft', { stage: 'draft' });
    for (const session of ['first', 'second', 'third']) {
      const run = { message: 'hi', session_id: `at-once-${session}` };
      const [, draft] = await Promise.all([
        service.run('at-once', run),
        service.run('at-once', { ...run, version: 2 }),
      ]);
      const { metadata } = (await service.get(`/sessions/at-once-${session}`)).body;
      expect(draft.status).toBe(metadata?.preview === undefined ? 409 : 200);
    }
  });

  it('runs in sessions of its own, which are marked', async () => {
    await create('previewed', 'one');
    const { body: published } = await service.run('previewed', { message: 'hi' });
    await addVersion('previewed', 'draft', { stage: 'draft' });
    const refused = await service.run('previewed', {
      message: 'hi',
      version: 2,
      session_id: published.session_id,
    });
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      `Version 2 of the agent 'previewed' is a draft, and session ${published.session_id} is not a session of drafts. Leave out session_id for a new session.`,
    ]);
    const { body: draft } = await service.run('previewed', { message: 'hi', version: 2 });
    expect(draft.content).toBe('draft');
    const session = `/sessions/${draft.session_id}`;
    expect((await service.get(session)).body.metadata).toEqual({ preview: { version: 2 } });
    const more = { message: 'hi', version: 2, session_id: draft.session_id };
    expect((await service.run('previewed', more)).body.content).toBe('draft');
    expect((await service.run('previewed', { message: 'hi' })).body.content).toBe('one');
    const made = { session_id: 'prepared', metadata: { mine: 1 } };
    await sent('POST', '/sessions?type=agent', made);
    expect((await service.run('previewed', { ...more, session_id: 'prepared' })).status).toBe(200);
    const { metadata } = (await service.get('/sessions/prepared')).body;
    expect(metadata).toEqual({ mine: 1, preview: { version: 2 } });
  });
});

describe('a version', () => {
  it('is pinned by a schedule', async () => {
    await create('scheduled', 'one');
    await addVersion('scheduled', 'two');
    const { id } = await sent('POST', '/schedules', {
      ...{ name: 'pinned', cron_expr: '0 0 1 1 *', endpoint: '/agents/scheduled/runs' },
      payload: { message: 'hi', version: 1 },
    });
    const { body } = await service.call('POST', `/schedules/${id}/trigger`);
    expect(body.status).toBe('success');
    expect((await service.get(`/agents/scheduled/runs/${body.run_id}`)).body.content).toBe('one');

    // what calls something else is no dependent of it
    for (const [name, endpoint, payload] of [
      ['evaluated', '/eval-runs', { eval_type: 'accuracy', agent_id: 'scheduled', input: 'hi' }],
      ['of another', '/agents/scheduled-too/runs', { message: 'hi' }],
      ['as an input', '/eval-runs', { eval_type: 'accuracy', agent_id: 'coded', input: 'scheduled' }],
    ] as const)
      await sent('POST', '/schedules', { name, cron_expr: '0 0 1 1 *', endpoint, payload });
    const { schedules } = (await service.get('/components/scheduled/dependents')).body;
    expect(new Map(schedules.map((one: Body) => [one.name, one]))).toEqual(
      new Map([
        ['evaluated', { id: expect.any(String), name: 'evaluated', endpoint: '/eval-runs', enabled: true }],
        [
          'pinned',
          { id, name: 'pinned', endpoint: '/agents/scheduled/runs', enabled: true, child_version: 1 },
        ],
      ]),
    );
  });

  it('is named by a message of the WebSocket', async () => {
    const config = (name: string) => ({ name: 'Steps', steps: [{ type: 'Step', name, agent_id: 'coded' }] });
    const workflow = { name: 'Steps', component_id: 'steps', component_type: 'workflow', stage: 'published' };
    await sent('POST', '/components', { ...workflow, config: config('One') });
    await sent('POST', '/components/steps/configs', { stage: 'published', config: config('Two') });
    const client = await WsClient.connect(service.url, '/workflows/ws');
    client.send({ action: 'start-workflow', workflow_id: 'steps', message: 'hi', version: 1 });
    expect((await client.event('StepStarted')).step_name).toBe('One');
    await client.event('WorkflowCompleted');
  });
});

describe('the config of a component of the code', () => {
  it('makes a stored copy', async () => {
    const { body: copied } = await service.get('/agents/coded/config');
    expect(copied).toMatchObject({ component_id: 'coded', component_type: 'agent', name: 'Coded' });
    await sent('POST', '/components', {
      ...{ name: 'Copy', component_id: 'copy', component_type: 'agent', stage: 'published' },
      config: { ...copied.config, instructions: 'from the copy' },
    });
    expect((await service.run('copy', { message: 'hi' })).body.content).toBe('from the copy');
    expect((await service.get('/agents/copy/config')).body).toMatchObject({ version: 1, revision: 1 });
    expect((await service.get('/agents/made/config')).status).toBe(422);
    expect((await service.get('/agents/none/config')).status).toBe(404);
  });
});

describe('evals', () => {
  it('compare two versions over a dataset', async () => {
    await create('graded', 'wrong');
    await addVersion('graded', 'right');
    const dataset = await sent('POST', '/datasets', { name: 'answers' });
    const cases = [{ id: 'a', input: 'hi', expected_output: 'right' }];
    await sent('POST', `/datasets/${dataset.id}/cases`, { cases });
    const evalOf = (version: number) =>
      sent('POST', '/eval-runs', {
        ...{ agent_id: 'graded', version, eval_type: 'custom', dataset_id: dataset.id, scorers: ['exact'] },
      });
    const [one, two] = [await evalOf(1), await evalOf(2)];
    expect([one.eval_input.version, two.eval_input.version]).toEqual([1, 2]);
    const { body: compared } = await service.get(`/eval-runs/${two.id}/comparison?with=${one.id}`);
    expect(compared.scorers).toMatchObject([{ name: 'exact', changes: { better: 1 } }]);
  });
});
