import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { person } from '../../../../test/support/clients/callers.js';
import {
  interfaceSite,
  McpClient,
  type McpClientOptions,
  textOf,
} from '../../../../test/support/clients/mcp-client.js';
import { ScriptBook } from '../../../../test/support/providers/script-book.js';
import { TestService } from '../../../../test/support/service.js';
import { agent, step, team, tool, workflow } from '../../../index.js';

const book = new ScriptBook();
const deleted: string[] = [];
const { model } = book;

const remove = tool({
  name: 'delete_file',
  description: 'Deletes a file',
  inputSchema: z.object({ path: z.string() }),
  requiresConfirmation: true,
  execute: ({ path }) => `deleted ${deleted.push(path)}`,
});
const release = tool({
  name: 'release',
  description: 'Releases a version',
  approval: 'required',
  inputSchema: z.object({ version: z.string() }),
  execute: ({ version }) => `released ${deleted.push(version)}`,
});
const add = tool({
  name: 'add',
  description: 'Adds',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});
const book_ = tool({
  name: 'book',
  description: 'Books a seat',
  inputSchema: z.object({ flight: z.string(), seat: z.number() }),
  requiresUserInput: true,
  userInputFields: ['seat'],
  execute: ({ flight, seat }) => `booked ${flight} ${seat}`,
});
let failing = true;

const assistant = agent({
  id: 'assistant',
  name: 'Assistant',
  description: 'Helps',
  model,
  tools: [remove, release, add, book_],
});
const waiting = agent({
  id: 'waiting',
  model,
  tools: [
    tool({
      name: 'wait',
      description: 'Waits until it is stopped',
      execute: (_args, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
    }),
  ],
});

const probe = interfaceSite();
let service: TestService;
const clients: McpClient[] = [];

beforeAll(async () => {
  service = await TestService.start({
    name: 'Yard',
    interfaces: [probe.defined],
    agents: [assistant, waiting],
    teams: [team({ id: 'crew', name: 'Crew', model, members: [assistant] })],
    workflows: [
      workflow({
        id: 'draft',
        steps: [
          step({ name: 'first', run: ({ input }) => `${input}!` }),
          step({ name: 'second', run: ({ previousStepContent }) => `${previousStepContent}!` }),
        ],
      }),
      workflow({
        id: 'broken',
        steps: [
          step({
            name: 'breaks',
            maxRetries: 0,
            run: () => {
              throw new Error('no paper');
            },
          }),
        ],
      }),
      workflow({
        id: 'asking',
        steps: [
          step({
            name: 'publish',
            review: { requiresConfirmation: true, confirmationMessage: 'Publish it?', onReject: 'cancel' },
            run: () => 'published',
          }),
          step({
            name: 'mend',
            maxRetries: 0,
            onError: 'pause',
            run: () => {
              if (failing) throw new Error('Not yet');
              return 'mended';
            },
          }),
        ],
      }),
    ],
  });
});

afterAll(async () => {
  for (const client of clients) await client.close();
  await service.stop();
});

async function connected(options?: McpClientOptions): Promise<McpClient> {
  const client = await McpClient.connect(probe.site(), options);
  clients.push(client);
  return client;
}

const callsDelete = (path: string) => ({ toolCalls: [{ name: 'delete_file', arguments: { path } }] });

describe('the list of tools', () => {
  test('has exactly the eight, with their arguments and annotations', async () => {
    const { client } = await connected();
    expect(client.getServerVersion()).toMatchObject({ name: 'Yard' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'get_agentos_config',
      'run_agent',
      'run_team',
      'run_workflow',
      'continue_run',
      'cancel_run',
      'get_sessions',
      'get_session_runs',
    ]);
    const byName = Object.fromEntries(tools.map((one) => [one.name, one]));
    expect(byName.run_agent).toMatchObject({
      annotations: { readOnlyHint: false, openWorldHint: true },
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        required: ['agent_id', 'message'],
        properties: {
          user_id: { default: null },
          session_id: { default: null },
          background: { default: false },
        },
      },
    });
    expect(byName.run_agent?.outputSchema).toBeUndefined();
    expect(byName.cancel_run).toMatchObject({
      annotations: { destructiveHint: true, idempotentHint: true },
      outputSchema: { type: 'object', properties: { result: { type: 'string' } }, required: ['result'] },
    });
    expect(byName.get_sessions).toMatchObject({
      annotations: { readOnlyHint: true },
      inputSchema: {
        properties: {
          session_type: { default: 'agent' },
          limit: { default: 20 },
          sort_by: { default: 'created_at' },
        },
      },
      outputSchema: { type: 'object', additionalProperties: true },
    });
    expect(byName.continue_run?.annotations).toEqual({ readOnlyHint: false, destructiveHint: false });
  });

  test('follows the tags, and further tools are off unless they are named', async () => {
    const namesOf = async (options: McpClientOptions['options']) => {
      const { tools } = await (await connected({ options })).client.listTools();
      return tools.map(({ name }) => name);
    };
    expect(await namesOf({ includeTags: ['session'] })).toEqual(['get_sessions', 'get_session_runs']);
    expect(await namesOf({ includeTags: ['extra'] })).toEqual([
      'get_run',
      'list_approvals',
      'search_knowledge',
    ]);
    expect(await namesOf({ includeTags: [] })).toEqual([]);
    expect(await namesOf({ excludeTags: ['core'] })).toEqual(['get_sessions', 'get_session_runs']);
  });
});

describe('a run', () => {
  test('answers with its text, ids and status, and is the run that REST shows', async () => {
    const client = await connected();
    const result = await client.call('run_agent', {
      agent_id: 'assistant',
      message: 'Hello',
      user_id: 'ada',
      session_id: 's-1',
    });
    expect(result).toMatchObject({
      content: [{ type: 'text', text: 'Answer to: Hello' }],
      structuredContent: { session_id: 's-1', status: 'completed' },
      isError: false,
    });
    expect(Object.keys(result.data)).toEqual(['run_id', 'session_id', 'status']);
    const stored = await service.get(`/agents/assistant/runs/${result.data.run_id}`);
    expect(stored.body).toMatchObject({ content: 'Answer to: Hello', user_id: 'ada', status: 'completed' });
    const second = await client.call('run_agent', { agent_id: 'assistant', message: 'More', session_id: '' });
    expect(second.data.session_id).not.toBe('');
  });

  test('is whole in the full mode', async () => {
    const client = await connected({ options: { resultMode: 'full' } });
    const { data } = await client.call('run_agent', { agent_id: 'assistant', message: 'All of it' });
    expect(data).toMatchObject({
      content: 'Answer to: All of it',
      agent_id: 'assistant',
      status: 'completed',
    });
    expect(data.messages.length).toBeGreaterThan(1);
  });

  test('of a team and of a workflow answers likewise', async () => {
    const client = await connected();
    const ofTeam = await client.call('run_team', { team_id: 'crew', message: 'Hi crew' });
    expect(textOf(ofTeam)).toBe('Answer to: Hi crew');
    const ofWorkflow = await client.call('run_workflow', { workflow_id: 'draft', message: 'Hi' });
    expect(textOf(ofWorkflow)).toBe('Hi!!');
  });

  test('reports its progress: the start, calls of tools, and steps of a workflow', async () => {
    const client = await connected();
    book.write('1+2', { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, 'It is 3');
    expect(textOf(await client.watched('run_agent', { agent_id: 'assistant', message: '1+2' }))).toBe(
      'It is 3',
    );
    expect(client.progress).toEqual([
      { progress: 0, message: 'Agent Assistant started' },
      { progress: 1, message: 'Tool call started: add' },
      { progress: 2, message: 'Tool call completed: add' },
    ]);
    client.progress.length = 0;
    await client.watched('run_workflow', { workflow_id: 'draft', message: 'x' });
    expect(client.progress.map(({ message }) => message)).toEqual([
      'Workflow started',
      'Step started: first (1/2)',
      'Step completed: first (1/2)',
      'Step started: second (2/2)',
      'Step completed: second (2/2)',
    ]);
  });

  test('in the background returns its id at once, and is read until it has ended', async () => {
    const client = await connected({ options: { includeTags: ['core', 'session', 'extra'] } });
    book.write('Sit', { toolCalls: [{ name: 'wait', arguments: {} }] });
    const args = { agent_id: 'waiting', message: 'Sit', session_id: 's-first', background: true };
    const { data } = await client.call('run_agent', args);
    expect(data).toMatchObject({ session_id: 's-first', status: 'pending' });
    const named = { agent_id: 'waiting', run_id: data.run_id };
    const present = await client.call('get_run', named);
    expect(['pending', 'running']).toContain(present.data.status);
    // the session of a first run is visible while it is executed
    const listed = await client.call('get_session_runs', { session_id: 's-first' });
    expect(listed.data.result).toMatchObject([
      { run_id: data.run_id, run_input: 'Sit', agent_id: 'waiting' },
    ]);
    const cancelled = await client.call('cancel_run', named);
    expect(cancelled.data).toEqual({ result: `Run ${data.run_id} cancellation requested` });
    await expect.poll(async () => (await client.call('get_run', named)).data.status).toBe('cancelled');
    expect((await client.call('cancel_run', named)).isError).toBe(false);
  });

  test('that its client cancels is cancelled', async () => {
    const client = await connected();
    book.write('Stay', { toolCalls: [{ name: 'wait', arguments: {} }] });
    const controller = new AbortController();
    const args = { agent_id: 'waiting', message: 'Stay', session_id: 's-stay' };
    const call = client.call('run_agent', args, controller.signal);
    const runs = async () => (await service.get('/sessions/s-stay/runs')).body;
    await expect.poll(async () => (await runs())[0]?.tools?.length).toBe(1);
    controller.abort();
    await expect(call).rejects.toThrow();
    await expect.poll(async () => (await runs())[0].status).toBe('cancelled');
  });

  test('that another caller cancels is a failure that says so', async () => {
    const client = await connected();
    book.write('Sleep', { toolCalls: [{ name: 'wait', arguments: {} }] });
    const call = client.call('run_agent', { agent_id: 'waiting', message: 'Sleep', session_id: 's-sleep' });
    const runs = async () => (await service.get('/sessions/s-sleep/runs')).body;
    await expect.poll(async () => (await runs())[0]?.status).toBe('running');
    const [{ run_id: runId }] = await runs();
    await service.call('POST', `/agents/waiting/runs/${runId}/cancel`);
    const result = await call;
    expect(result).toMatchObject({ isError: true, data: { run_id: runId, status: 'cancelled' } });
    expect(textOf(result)).toBe(`Error calling tool 'run_agent': Run ${runId} was cancelled`);
  });

  test('that failed is a failure, of an agent and of a workflow', async () => {
    const client = await connected();
    book.write('Fail', () => {
      throw new Error('mock failure');
    });
    const ofAgent = await client.call('run_agent', { agent_id: 'assistant', message: 'Fail' });
    expect(ofAgent).toMatchObject({ isError: true, data: { status: 'error', run_id: expect.any(String) } });
    expect(textOf(ofAgent)).toContain("Error calling tool 'run_agent': ");
    expect(textOf(ofAgent)).toContain('mock failure');
    const ofWorkflow = await client.call('run_workflow', { workflow_id: 'broken', message: 'x' });
    expect(ofWorkflow).toMatchObject({ isError: true, data: { status: 'error' } });
    expect(textOf(ofWorkflow)).toContain('no paper');
  });

  test('that is dispatched again is not started again', async () => {
    const runId = 'repeated-run';
    const repeated = { call: { runId, isRepeated: true } };
    const first = await (await connected(repeated)).call('run_agent', {
      agent_id: 'assistant',
      message: 'Once',
    });
    const second = await (await connected(repeated)).watched('run_agent', {
      agent_id: 'assistant',
      message: 'Once',
    });
    expect(second.structuredContent).toEqual(first.structuredContent);
    expect(first.data.run_id).toBe(runId);
    expect(book.requests('Once')).toHaveLength(1);
  });
});

describe('a paused run', () => {
  test('is continued with its requirements, with simple fields, and not without an answer', async () => {
    const client = await connected();
    book.write('Delete /x', callsDelete('/x'), 'Done');
    const paused = await client.call('run_agent', { agent_id: 'assistant', message: 'Delete /x' });
    const { run_id: runId, session_id: sessionId, requirements } = paused.data;
    expect(paused).toMatchObject({ isError: false, data: { status: 'paused' } });
    expect(requirements).toMatchObject([
      { id: expect.any(String), tool_execution: { tool_name: 'delete_file', tool_args: { path: '/x' } } },
    ]);
    const named = { run_id: runId, agent_id: 'assistant', session_id: sessionId };
    expect(await client.failure('continue_run', named)).toContain('unresolved HITL requirements');
    expect(deleted).not.toContain('/x');
    const confirmed = requirements.map((one: object) => ({ ...one, confirmation: true }));
    const done = await client.call('continue_run', { ...named, requirements: confirmed });
    expect(done).toMatchObject({ isError: false, data: { run_id: runId, status: 'completed' } });
    expect(deleted).toContain('/x');
    // a run that has ended is neither continued nor copied
    const again = await client.call('continue_run', { ...named, confirmed: true });
    expect(again).toMatchObject({ isError: true, data: { run_id: runId, status: 'completed' } });
    expect((await service.get(`/sessions/${sessionId}/runs`)).body).toHaveLength(1);
  });

  test('takes a no with its reason, and input, in simple fields', async () => {
    const client = await connected();
    book.write('Delete /y', callsDelete('/y'), 'Kept');
    const { data: paused } = await client.call('run_agent', { agent_id: 'assistant', message: 'Delete /y' });
    const answer = { run_id: paused.run_id, agent_id: 'assistant', confirmed: false, note: 'It is needed' };
    expect(textOf(await client.call('continue_run', answer))).toBe('Kept');
    expect(deleted).not.toContain('/y');
    const [, later] = book.requests('Delete /y');
    expect(JSON.stringify(later?.messages)).toContain('It is needed');

    const calls = { toolCalls: [{ name: 'book', arguments: { flight: 'LH1' } }] };
    book.write('Book LH1', calls, 'Booked');
    const { data: booking } = await client.call('run_agent', { agent_id: 'assistant', message: 'Book LH1' });
    const place = { run_id: booking.run_id, agent_id: 'assistant' };
    expect(await client.failure('continue_run', { ...place, values: { row: 1 } })).toContain(
      "no field 'row'",
    );
    const booked = await client.call('continue_run', { ...place, values: { seat: 12 } });
    expect(textOf(booked)).toBe('Booked');
    const run = await service.get(`/agents/assistant/runs/${booking.run_id}`);
    expect(run.body.tools[0].result).toBe('booked LH1 12');
  });

  test('with several questions needs an answer that names each', async () => {
    const client = await connected();
    const both = { toolCalls: [...callsDelete('/a').toolCalls, ...callsDelete('/b').toolCalls] };
    book.write('Delete both', both, 'Half');
    const { data } = await client.call('run_agent', { agent_id: 'assistant', message: 'Delete both' });
    const place = { run_id: data.run_id, agent_id: 'assistant' };
    expect(await client.failure('continue_run', { ...place, confirmed: true })).toContain(
      'waits for 2 answers',
    );
    const ids = data.requirements.map(
      (one: { tool_execution: { tool_call_id: string } }) => one.tool_execution,
    );
    const answers = [
      { id: ids[0].tool_call_id, confirmed: true },
      { id: ids[1].tool_call_id, confirmed: false },
    ];
    expect(textOf(await client.call('continue_run', { ...place, answers }))).toBe('Half');
    expect(deleted).toContain('/a');
    expect(deleted).not.toContain('/b');
  });

  test('of a workflow is continued by its steps', async () => {
    failing = true;
    const client = await connected();
    const first = await client.call('run_workflow', { workflow_id: 'asking', message: 'x' });
    const { data } = first;
    expect(data).toMatchObject({ status: 'paused', requirements: [{ step_name: 'publish' }] });
    expect(textOf(first)).toContain('Publish it?');
    const place = { run_id: data.run_id, workflow_id: 'asking' };
    const second = await client.call('continue_run', { ...place, confirmed: true });
    expect(second.data).toMatchObject({
      status: 'paused',
      requirements: [{ step_name: 'mend', error_message: expect.stringContaining('Not yet') }],
    });
    // the question, and not the output of the step before
    expect(textOf(second)).toMatch(/'mend' of the workflow failed: .*Not yet/);
    failing = false;
    const [requirement] = second.data.requirements;
    const requirements = [{ ...requirement, decision: 'retry' }];
    const done = await client.call('continue_run', { ...place, requirements });
    expect(done.data.status).toBe('completed');
    expect(textOf(done)).toBe('mended');
  });

  test('that needs an approval is not continued by anyone who calls the tool', async () => {
    const client = await connected({ person: () => ({ action: 'accept', content: { confirmed: true } }) });
    book.write('Release 9', { toolCalls: [{ name: 'release', arguments: { version: '9' } }] }, 'Out');
    const { data } = await client.call('run_agent', { agent_id: 'assistant', message: 'Release 9' });
    expect(data.status).toBe('paused');
    const place = { run_id: data.run_id, agent_id: 'assistant' };
    expect(await client.failure('continue_run', { ...place, confirmed: true })).toContain('admin approval');
    const requirements = data.requirements.map((one: object) => ({ ...one, confirmation: true }));
    expect(await client.failure('continue_run', { ...place, requirements })).toContain('admin approval');
    expect(deleted).not.toContain('9');
    const extra = await connected({ options: { includeTags: ['core', 'extra'] } });
    const approvals = await extra.call('list_approvals', { run_id: data.run_id });
    expect(approvals.data.data).toMatchObject([
      { run_id: data.run_id, tool_name: 'release', status: 'pending' },
    ]);
    await service.call('POST', `/approvals/${approvals.data.data[0].id}/resolve`, {
      headers: { 'content-type': 'application/json' },
      body: '{"status":"approved","resolved_by":"grace"}',
    });
    expect(textOf(await client.call('continue_run', place))).toBe('Out');
    expect(deleted).toContain('9');
  });
});

test('a caller without the right to decide learns that an administrator has to', async () => {
  const ada = await connected({ caller: person('ada', ['agents:run']) });
  book.write('Release 10', { toolCalls: [{ name: 'release', arguments: { version: '10' } }] });
  const { data } = await ada.call('run_agent', { agent_id: 'assistant', message: 'Release 10' });
  const args = { run_id: data.run_id, session_id: data.session_id, agent_id: 'assistant', confirmed: true };
  expect(await ada.failure('continue_run', args)).toBe(
    "Error calling tool 'continue_run': This run requires admin approval before it can be continued",
  );
  expect(deleted).not.toContain('10');
});

describe('a request that is dispatched again', () => {
  test('continues what its first dispatch has not, and answers nothing that was asked since', async () => {
    const client = await connected();
    const again = await connected({ call: { isRepeated: true } });
    book.write('Delete in turn', callsDelete('/t1'), callsDelete('/t2'), 'Both');
    const { data } = await client.call('run_agent', { agent_id: 'assistant', message: 'Delete in turn' });
    const place = { run_id: data.run_id, agent_id: 'assistant' };
    const requirements = data.requirements.map((one: object) => ({ ...one, confirmation: true }));
    const first = await again.call('continue_run', { ...place, requirements });
    expect(first.data.requirements).toMatchObject([{ tool_execution: { tool_args: { path: '/t2' } } }]);
    // the same request once more: the question is another one by now
    for (const answer of [{ requirements }, { confirmed: true }]) {
      const second = await again.call('continue_run', { ...place, ...answer });
      expect(second.data).toEqual(first.data);
    }
    expect(deleted).not.toContain('/t2');
    const done = await client.call('continue_run', { ...place, confirmed: true });
    expect(textOf(done)).toBe('Both');
    // it has ended meanwhile
    expect(textOf(await again.call('continue_run', { ...place, confirmed: true }))).toBe('Both');
  });
});

describe('a client that shows forms', () => {
  test('that cancels its request while its person is asked cancels the run', async () => {
    const controller = new AbortController();
    const client = await connected({
      person: async () => {
        controller.abort();
        return { action: 'accept', content: { confirmed: true } };
      },
    });
    book.write('Delete /late', callsDelete('/late'));
    const args = { agent_id: 'assistant', message: 'Delete /late', session_id: 's-late' };
    await expect(client.call('run_agent', args, controller.signal)).rejects.toThrow();
    const runs = async () => (await service.get('/sessions/s-late/runs')).body;
    await expect.poll(async () => (await runs())[0].status).toBe('cancelled');
    expect(deleted).not.toContain('/late');
  });

  test('asks its person, and the run continues in the same call', async () => {
    const forms: unknown[] = [];
    const client = await connected({
      person: (form) => {
        forms.push(form);
        return { action: 'accept', content: { confirmed: true } };
      },
    });
    book.write('Delete /form', callsDelete('/form'), 'Gone');
    const result = await client.call('run_agent', { agent_id: 'assistant', message: 'Delete /form' });
    expect(result).toMatchObject({ isError: false, data: { status: 'completed' } });
    expect(textOf(result)).toBe('Gone');
    expect(deleted).toContain('/form');
    expect(forms).toMatchObject([
      {
        message: expect.stringContaining('\'delete_file\' with {"path":"/form"}'),
        requestedSchema: { properties: { confirmed: { type: 'boolean' } }, required: ['confirmed'] },
      },
    ]);
  });

  test('takes a declined form for a no, and a dismissed one for no answer', async () => {
    let action: 'decline' | 'cancel' = 'decline';
    const client = await connected({ person: () => ({ action }) });
    book.write('Delete /no', callsDelete('/no'), 'Kept it');
    const declined = await client.call('run_agent', { agent_id: 'assistant', message: 'Delete /no' });
    expect(textOf(declined)).toBe('Kept it');
    action = 'cancel';
    book.write('Delete /maybe', callsDelete('/maybe'), 'Kept it too');
    const { data } = await client.call('run_agent', { agent_id: 'assistant', message: 'Delete /maybe' });
    expect(data.status).toBe('paused');
    expect(deleted).not.toContain('/no');
    expect(deleted).not.toContain('/maybe');
  });

  test('asks again when an answer does not fit, and for the steps of a workflow', async () => {
    const messages: string[] = [];
    const client = await connected({
      person: ({ message }) => {
        messages.push(message);
        return { action: 'accept', content: { seat: messages.length === 1 ? 1.5 : 7 } };
      },
    });
    book.write('Book LH2', { toolCalls: [{ name: 'book', arguments: { flight: 'LH2' } }] }, 'Seated');
    expect(textOf(await client.call('run_agent', { agent_id: 'assistant', message: 'Book LH2' }))).toBe(
      'Seated',
    );

    failing = true;
    const answers: Record<string, string | boolean>[] = [{ confirmed: true }, { decision: 'retry' }];
    const reviewer = await connected({
      person: () => {
        failing = answers.length === 2;
        return { action: 'accept', content: answers.shift() ?? {} };
      },
    });
    const done = await reviewer.call('run_workflow', { workflow_id: 'asking', message: 'x' });
    expect(done.data.status).toBe('completed');
    expect(textOf(done)).toBe('mended');
    // a form that is sent empty decides nothing
    failing = true;
    answers.push({ confirmed: true });
    const undecided = await connected({
      person: () => ({ action: 'accept', content: answers.shift() ?? {} }),
    });
    const waiting = await undecided.call('run_workflow', { workflow_id: 'asking', message: 'x' });
    expect(waiting.data.status).toBe('paused');
    failing = false;
  });
});

describe('what goes wrong', () => {
  test.each([
    ['run_agent', { agent_id: 'nope', message: 'x' }, 'Agent nope not found'],
    ['run_team', { team_id: 'nope', message: 'x' }, 'Team nope not found'],
    ['run_workflow', { workflow_id: 'nope', message: 'x' }, 'Workflow nope not found'],
    ['get_session_runs', { session_id: 'zzz' }, 'Session zzz not found'],
    ['cancel_run', { run_id: 'r' }, 'Provide exactly one of agent_id, team_id, or workflow_id'],
    [
      'continue_run',
      { run_id: 'r', agent_id: 'assistant', team_id: 'crew' },
      'Provide exactly one of agent_id, team_id, or workflow_id',
    ],
    ['cancel_run', { run_id: 'r', agent_id: 'assistant' }, 'Run not found'],
    ['continue_run', { run_id: 'r-none', agent_id: 'assistant' }, 'No runs found for run ID r-none'],
    ['get_sessions', { db_id: 'nope' }, "404: No database found with id 'nope'"],
  ])('%s %j says it in the words of the contract', async (name, args, text) => {
    expect(await (await connected()).failure(name, args)).toBe(`Error calling tool '${name}': ${text}`);
  });

  test('unknown tools, unknown arguments and missing ones are failures without a prefix', async () => {
    const client = await connected();
    expect(await client.failure('nosuch')).toBe("Unknown tool: 'nosuch'");
    const text = await client.failure('run_agent', { agent_id: 'assistant', bogus: 1 });
    expect(text).toMatch(/^2 validation errors for call\[run_agent\]\n/);
    expect(text).toContain('bogus\n  Unexpected argument');
    expect(text).toContain('message\n');
  });
});

describe('callers', () => {
  test('need the scopes of the route, for one component or for all', async () => {
    const limited = await connected({ caller: person('ada', ['agents:assistant:run']) });
    expect((await limited.client.listTools()).tools).toHaveLength(8);
    expect((await limited.call('run_agent', { agent_id: 'assistant', message: 'May I' })).isError).toBe(
      false,
    );
    const refused = (scope: string) => `Insufficient permissions. Required scope(s): ${scope}`;
    expect(await limited.failure('run_agent', { agent_id: 'waiting', message: 'x' })).toContain(
      refused('agents:run'),
    );
    expect(await limited.failure('get_agentos_config')).toContain(refused('config:read'));
    expect(await limited.failure('get_sessions')).toContain(refused('sessions:read'));
    const { prompts } = await limited.client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['agent/assistant']);
  });

  test('neither see, continue nor cancel the runs of others', async () => {
    const ada = await connected({ caller: person('ada') });
    const eve = await connected({ caller: person('eve') });
    book.write('Delete /hers', callsDelete('/hers'));
    const args = { agent_id: 'assistant', message: 'Delete /hers', user_id: 'eve' };
    const { data } = await ada.call('run_agent', args);
    const { run_id, session_id } = data;
    expect((await service.get(`/agents/assistant/runs/${run_id}`)).body.user_id).toBe('ada');
    const named = { run_id, agent_id: 'assistant' };
    for (const name of ['cancel_run', 'continue_run']) {
      expect(await eve.failure(name, named)).toContain('Run not found');
      expect(await eve.failure(name, { ...named, session_id })).toContain('Run not found');
    }
    expect(await eve.failure('get_session_runs', { session_id, user_id: 'ada' })).toContain('not found');
    const page = await eve.call('get_sessions', { user_id: 'ada' });
    expect(page.data.data).toEqual([]);
    const reads = await ada.call('get_session_runs', { session_id, run_id });
    expect(reads.data.result).toMatchObject([{ run_id, status: 'paused', messages: expect.any(Array) }]);
    expect(await ada.failure('get_session_runs', { session_id, run_id: 'zzz' })).toContain(
      `Run zzz not found in session ${session_id}`,
    );
  });

  test('see what can be run, and nothing of the rest of the configuration', async () => {
    const { data } = await (await connected()).call('get_agentos_config');
    expect(Object.keys(data).sort()).toEqual([
      'agents',
      'databases',
      'description',
      'os_id',
      'teams',
      'workflows',
    ]);
    expect(data.agents[0]).toMatchObject({
      id: 'assistant',
      name: 'Assistant',
      description: 'Helps',
      model: { id: model.id, provider: model.provider },
    });
    expect(data.teams).toMatchObject([{ id: 'crew', mode: 'coordinate' }]);
    expect(data.workflows[0]).toMatchObject({ id: 'draft', is_factory: false, is_component: false });
  });

  test('see and run stored components, too', async () => {
    const config = { name: 'Stored', model: { id: model.id }, description: 'From data' };
    const created = await service.call('POST', '/components', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ name: 'Stored', component_id: 'stored', component_type: 'agent', stage: 'published', config },
      }),
    });
    expect(created.status).toBe(201);
    const client = await connected();
    const { data } = await client.call('get_agentos_config');
    expect(data.agents.at(-1)).toMatchObject({ id: 'stored', description: 'From data', current_version: 1 });
    const { prompts } = await client.client.listPrompts();
    expect(prompts).toContainEqual(expect.objectContaining({ name: 'agent/stored', title: 'Ask Stored' }));
    expect(textOf(await client.call('run_agent', { agent_id: 'stored', message: 'Data' }))).toBe(
      'Answer to: Data',
    );
    const other = await connected({ caller: person('ada', ['config:read', 'agents:assistant:read']) });
    const seen = (await other.call('get_agentos_config')).data;
    expect([...seen.agents, ...seen.teams, ...seen.workflows]).toMatchObject([{ id: 'assistant' }]);
  });

  test('page through their sessions', async () => {
    const client = await connected({ caller: person('pat') });
    for (const message of ['one', 'two', 'three'])
      await client.call('run_agent', { agent_id: 'assistant', message });
    const { data } = await client.call('get_sessions', { limit: 2, page: 2 });
    expect(data.data).toHaveLength(1);
    expect(data.meta).toMatchObject({ page: 2, limit: 2, total_pages: 2, total_count: 3 });
  });
});

test('a prompt hands a message to a component', async () => {
  const { client } = await connected();
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toContain('workflow/draft');
  const prompt = await client.getPrompt({ name: 'agent/assistant', arguments: { message: 'Say hi' } });
  expect(JSON.stringify(prompt.messages)).toContain("run_agent with agent_id 'assistant'");
  expect(JSON.stringify(prompt.messages)).toContain('Say hi');
  await expect(client.getPrompt({ name: 'agent/nope' })).rejects.toThrow("Unknown prompt: 'agent/nope'");
});
