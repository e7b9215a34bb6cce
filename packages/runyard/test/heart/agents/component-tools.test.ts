import { expect, test } from 'vitest';
import { z } from 'zod';
import { RunReleased } from '../../../src/core/runs/executable.js';
import {
  type Agent,
  agent,
  agentFactory,
  router,
  step,
  team,
  tool,
  toolkit,
  toolResult,
  workflow,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { creation } from '../../conformance/builders.js';
import { begin, engineOver, freshStore, gate } from '../harness.js';
import { call, runOf } from '../teams/team-runs.js';

const poet = () =>
  agent({ id: 'poet', description: 'Writes verses', model: scriptedModel(['Roses are red.']) });

test('components among the tools of an agent are called as tools, as runs within its run', async () => {
  const translate = workflow({
    id: 'translate.words',
    inputSchema: z.object({ text: z.string(), to: z.string().default('de') }),
    steps: [({ input }) => `${input.text} in ${input.to}`],
  });
  const desk = team({
    id: 'desk',
    role: 'Knows the news',
    model: scriptedModel(['Nothing new.']),
    members: [poet()],
  });
  const model = scriptedModel([
    {
      toolCalls: [
        call('poet', { input: 'A line' }),
        call('translate_words', { text: 'Rose' }),
        call('my_desk', { input: 'News?' }),
      ],
    },
    'Done.',
  ]);
  const host = agent({
    id: 'host',
    model,
    tools: [poet(), translate, toolkit({ name: 'kit', prefix: 'my_', tools: [desk] })],
  });
  const output = await host.runOrThrow('Go');
  expect(output.content).toBe('Done.');
  expect(output.tools.map(({ name, result, error }) => [name, result, error])).toEqual([
    ['poet', 'Roses are red.', false],
    ['translate_words', 'Rose in de', false],
    ['my_desk', 'Nothing new.', false],
  ]);
  expect(output.memberResponses?.map(({ content }) => content)).toEqual(['Roses are red.', 'Nothing new.']);
  const offered = model.requests[0]!.tools!.map(({ name, description }) => [name, description]);
  expect(offered).toEqual([
    ['poet', 'Writes verses'],
    ['translate_words', "Runs the workflow 'translate.words'."],
    ['my_desk', 'Knows the news'],
  ]);
  expect(model.requests[0]!.tools![1]!.inputSchema).toMatchObject({
    properties: { text: { type: 'string' }, to: { default: 'de' } },
    required: ['text'],
  });
});

test('a component gets the media, the dependencies, the metadata and the filters of the run, and gives its media back', async () => {
  const picture = { bytes: new Uint8Array([1, 2, 3]), mimeType: 'image/png' };
  const seen: unknown[] = [];
  const draw = tool({
    name: 'draw',
    description: 'Draws',
    execute: (_args, { media, dependencies, metadata }) => {
      seen.push([media.map(({ kind }) => kind), dependencies, metadata]);
      return toolResult('drawn', { media: [{ kind: 'image', ...picture }] });
    },
  });
  const searched: unknown[] = [];
  const painter = agent({
    id: 'painter',
    model: scriptedModel([{ toolCalls: [call('draw', {})] }, 'A picture.']),
    tools: [draw],
    knowledgeRetriever: (_query, { filter }) => {
      searched.push(JSON.stringify(filter));
      return [];
    },
    addKnowledgeToContext: true,
  });
  const model = scriptedModel([{ toolCalls: [call('painter', { input: 'Paint' })] }, 'Done.']);
  const host = agent({ id: 'host', model, tools: [painter] });
  const output = await host.runOrThrow('Go', {
    images: [picture],
    dependencies: { city: 'Rome' },
    metadata: { plan: 'pro' },
    knowledgeFilters: { topic: 'art' },
  });
  expect(seen).toEqual([[['image'], { city: 'Rome' }, { plan: 'pro' }]]);
  expect(searched).toEqual([expect.stringContaining('art')]);
  expect(output.messages.find(({ role }) => role === 'tool')?.media?.map(({ kind }) => kind)).toEqual([
    'image',
  ]);
});

test('components that call each other without end are stopped', async () => {
  let host: Agent | undefined;
  const model = scriptedModel(({ messages }) => {
    const { role, content } = messages.at(-1)!;
    return role === 'tool' ? content : { toolCalls: [{ name: 'again', arguments: { input: 'deeper' } }] };
  });
  // the tool of an agent that is not made yet
  const later = {
    name: 'later',
    tools: async () => [host!.asTool({ name: 'again' })],
    close: async () => {},
  };
  host = agent({ id: 'host', model, tools: [later] });
  const { content } = await host.runOrThrow('Go');
  expect(content).toContain('components call each other 20 levels deep');
  expect(model.requests).toHaveLength(21 * 2);
});

test('what does not fit, and a component that fails, is an answer to the model', async () => {
  const strict = workflow({
    id: 'strict',
    inputSchema: z.object({ n: z.number().refine((n) => n % 2 === 0, 'must be even') }),
    steps: [
      step({
        name: 'halve',
        maxRetries: 0,
        run: () => {
          throw new Error('no halves today');
        },
      }),
    ],
  });
  const model = scriptedModel([
    { toolCalls: [call('strict', { n: 1 }, 'a'), call('strict', { n: 2 }, 'b')] },
    'Sorry.',
  ]);
  const { tools } = await agent({ id: 'host', model, tools: [strict] }).runOrThrow('Go');
  expect(tools.map(({ error }) => error)).toEqual([true, true]);
  expect(tools[0]!.result).toContain('must be even');
  expect(tools[1]!.result).toBe("The workflow 'strict' failed: Step 'halve' failed: no halves today");
});

test('a workflow that waits for a person pauses the agent that called it, and the answer reaches its step', async () => {
  const publish = workflow({
    id: 'publish',
    steps: [
      step({
        name: 'draft',
        run: ({ input, rejectionFeedback }) =>
          `${String(input)}${rejectionFeedback === null ? '' : ` (${rejectionFeedback})`}`,
        review: { requiresOutputReview: true, outputReviewMessage: 'Good?' },
      }),
      router({
        name: 'where',
        select: 'user',
        choices: [
          step({ name: 'web', run: ({ previousStepContent }) => `web: ${String(previousStepContent)}` }),
          step({ name: 'print', run: () => 'printed' }),
        ],
      }),
      step({
        name: 'send',
        run: ({ previousStepContent, additionalData }) => [
          previousStepContent,
          additionalData.user_input ?? null,
        ],
        review: { userInputSchema: [{ name: 'to', allowedValues: ['ada', 'bob'] }] },
      }),
    ],
  });
  const model = scriptedModel([{ toolCalls: [call('publish', { input: 'News' })] }, 'Published.']);
  const host = agent({ id: 'host', model, tools: [publish] });
  let run = await host.run('Go');
  const open = () => (run.status === 'paused' ? run.requirements : []);
  expect(open()).toMatchObject([{ kind: 'confirmation', toolName: 'draft', message: 'Good?' }]);
  expect(run.content).toBe('Good?');
  run = await host.continue(run.runId, {
    answers: { [open()[0]!.id]: { confirmed: false, note: 'shorter' } },
  });
  run = await host.continue(run.runId, { answers: { [open()[0]!.id]: { confirmed: true } } });
  expect(open()).toMatchObject([
    {
      kind: 'user_feedback',
      toolName: 'where',
      questions: [{ options: [{ label: 'web' }, { label: 'print' }] }],
    },
  ]);
  run = await host.continue(run.runId, { answers: { [open()[0]!.id]: { selected: [['web']] } } });
  expect(open()).toMatchObject([{ kind: 'user_input', toolName: 'send' }]);
  const [last] = open();
  await expect(
    host.continue(run.runId, { answers: { [last!.id]: { values: { to: 'eve' } } } }),
  ).rejects.toThrow("'to' does not fit");
  run = await host.continue(run.runId, { answers: { [last!.id]: { values: { to: 'ada' } } } });
  expect(run).toMatchObject({ status: 'completed', content: 'Published.' });
  expect(run.tools[0]!.result).toBe('["web: News (shorter)",{"to":"ada"}]');
});

test('a person can stop the workflow, and the agent continues without it', async () => {
  const pay = workflow({
    id: 'pay',
    steps: [
      step({ name: 'wire', run: () => 'paid', review: { requiresConfirmation: true, onReject: 'cancel' } }),
    ],
  });
  const model = scriptedModel([{ toolCalls: [call('pay', { input: '5' })] }, 'Not paid.']);
  const host = agent({ id: 'host', model, tools: [pay] });
  const paused = await host.run('Pay');
  const run = await host.continue(paused.runId, {
    answers: {
      [paused.status === 'paused' ? paused.requirements[0]!.id : '']: { confirmed: false, note: 'too dear' },
    },
  });
  expect(run).toMatchObject({ status: 'completed', content: 'Not paid.' });
  expect(run.tools[0]).toMatchObject({ error: true, result: expect.stringContaining('too dear') });
});

test('a gate before the component, and one in it, both hold', async () => {
  let deleted = 0;
  const remove = tool({
    name: 'remove',
    description: 'Removes',
    requiresConfirmation: true,
    execute: () => {
      deleted += 1;
      return 'removed';
    },
  });
  const cleaner = agent({
    id: 'cleaner',
    model: scriptedModel([{ toolCalls: [call('remove', {}, 'inner')] }, 'Clean.']),
    tools: [remove],
  });
  const model = scriptedModel([{ toolCalls: [call('clean', { input: 'Go' }, 'outer')] }, 'Done.']);
  const host = agent({
    id: 'host',
    model,
    tools: [cleaner.asTool({ name: 'clean', requiresConfirmation: true })],
  });
  let run = await host.run('Go');
  expect(run).toMatchObject({ status: 'paused', requirements: [{ callId: 'outer' }] });
  run = await host.continue(run.runId, { answers: { outer: { confirmed: true } } });
  expect(run).toMatchObject({ status: 'paused', requirements: [{ callId: 'inner' }] });
  expect(deleted).toBe(0);
  run = await host.continue(run.runId, { answers: { inner: { confirmed: true } } });
  expect(run).toMatchObject({ status: 'completed', content: 'Done.' });
  expect(deleted).toBe(1);
});

test('of two components that wait, the one without an answer is left alone, and no input is read twice', async () => {
  const read: number[] = [];
  const gated = tool({
    name: 'gated',
    description: 'Asks',
    requiresConfirmation: true,
    execute: () => 'yes',
  });
  const asking = (id: string) =>
    agent({
      id,
      model: scriptedModel([{ toolCalls: [call('gated', {}, `of ${id}`)] }, `${id} is done.`]),
      tools: [gated],
      inputSchema: z.object({ n: z.number().refine((n) => read.push(n) > 0) }),
    });
  const model = scriptedModel([{ toolCalls: [call('left', { n: 1 }), call('right', { n: 2 })] }, 'Done.']);
  const host = agent({ id: 'host', model, tools: [asking('left'), asking('right')] });
  const store = await freshStore();
  const engine = engineOver(store, [host]);
  const { runId, ended } = await begin(engine, host);
  await ended;
  const run = runOf(store, engine, runId);
  const readBefore = read.length;
  const about = (events: readonly { event: string }[], id: string) =>
    events.filter((event) => 'agent_id' in event && event.agent_id === id).map(({ event }) => event);
  const before = await run.events();
  const half = await run.reply({ 'of left': { confirmed: true } });
  expect(half.run.status).toBe('paused');
  const since = (await run.events()).slice(before.length);
  expect(about(since, 'left')).toContain('RunCompleted');
  expect(about(since, 'right')).toEqual([]);
  const { run: done, steps } = await run.reply({ 'of right': { confirmed: true } });
  expect(done).toMatchObject({ status: 'completed', result: { content: 'Done.' } });
  expect(read).toHaveLength(readBefore);
  // each run is a part of the call that it answers
  const parents = steps.filter(({ kind }) => kind === 'member').map(({ parentKey }) => parentKey);
  expect(parents).toEqual(['tool:0:0', 'tool:0:1']);
});

test('a component that a person stopped stays stopped when the process dies before its call is recorded', async () => {
  const pay = workflow({
    id: 'pay',
    steps: [
      step({ name: 'wire', run: () => 'paid', review: { requiresConfirmation: true, onReject: 'cancel' } }),
    ],
  });
  const model = scriptedModel([{ toolCalls: [call('pay', { input: '5' })] }, 'Not paid.', 'Still not paid.']);
  const host = agent({ id: 'host', model, tools: [pay] });
  const store = await freshStore();
  const engine = engineOver(store, [host]);
  const { runId, ended } = await begin(engine, host);
  await ended;
  const run = runOf(store, engine, runId);
  const [open] = (await run.look()).open;
  const { run: refused, steps } = await run.reply({
    [open!.requirement.callId]: { confirmed: false, note: 'too dear' },
  });
  expect(refused.status).toBe('completed');
  // as it was stored when the workflow had been stopped, and the call had not ended
  const unended = { status: 'running', output: null, error: null, endedAt: null } as const;
  const cut = steps
    .filter(({ key }) => key !== 'model:1')
    .map((one) => (one.key === 'tool:0:0' ? { ...one, ...unended } : one));
  const left = {
    ...refused,
    status: 'running',
    result: null,
    leaseOwner: null,
    leaseExpiresAt: null,
  } as const;
  const scratch = await freshStore();
  expect(await scratch.commit([creation(left, { steps: cut })])).toEqual([]);
  const other = engineOver(scratch, [host]);
  const resumed = await other.resume((await scratch.load(runId))!.run);
  expect((await resumed!.ended).run.status).toBe('completed');
  const said = model.requests.at(-1)!.messages.at(-1)!;
  expect([said.role, said.content]).toEqual(['tool', expect.stringContaining('too dear')]);
});

test('after a crash, the call continues within the component', async () => {
  const reached = gate();
  let first = 0;
  let attempts = 0;
  const work = workflow({
    id: 'work',
    steps: [
      step({
        name: 'one',
        run: () => {
          first += 1;
          return 'one';
        },
      }),
      step({
        name: 'two',
        run: ({ signal, previousStepContent }) => {
          attempts += 1;
          if (attempts > 1) return `${String(previousStepContent)}, two`;
          reached.open();
          return new Promise<string>((_, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason)),
          );
        },
      }),
    ],
  });
  const model = scriptedModel([{ toolCalls: [call('work', { input: 'Go' })] }, 'Done.']);
  const open = agent({ id: 'host', model, tools: [work] });
  const store = await freshStore();
  const engine = engineOver(store, [open]);
  const handle = await begin(engine, open);
  await reached.promise;
  await handle.stored();
  await engine.stop(0);
  await expect(handle.ended).rejects.toBeInstanceOf(RunReleased);
  const other = engineOver(store, [open]);
  const resumed = await other.resume((await store.load(handle.runId))!.run);
  expect((await resumed!.ended).run).toMatchObject({ status: 'completed', result: { content: 'Done.' } });
  expect([first, attempts, model.requests.length]).toEqual([1, 2, 2]);
  expect(model.requests[1]!.messages.at(-1)!.content).toBe('one, two');
  const names = (await runOf(store, other, handle.runId).events()).map(({ event }) => event);
  expect(names.filter((name) => name === 'ToolCallStarted' || name === 'WorkflowCompleted')).toEqual([
    'ToolCallStarted',
    'WorkflowCompleted',
  ]);
});

test('cancelling the agent cancels the component, which says so', async () => {
  const reached = gate();
  const slow = workflow({
    id: 'slow',
    steps: [
      ({ signal }) => {
        reached.open();
        return new Promise<string>((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        );
      },
    ],
  });
  const host = agent({
    id: 'host',
    model: scriptedModel([{ toolCalls: [call('slow', { input: 'x' })] }]),
    tools: [slow],
  });
  const store = await freshStore();
  const engine = engineOver(store, [host]);
  const handle = await begin(engine, host);
  await reached.promise;
  handle.cancel('Enough');
  expect((await handle.ended).run.status).toBe('cancelled');
  const events = await runOf(store, engine, handle.runId).events();
  const names = events.map(({ event }) => event);
  expect(names).toContain('WorkflowCancelled');
  expect(names).toContain('RunCancelled');
  // the events of a workflow name that workflow alone
  const begun = events.find(({ event }) => event === 'WorkflowStarted');
  expect(begun).toMatchObject({ workflow_id: 'slow', parent_run_id: handle.runId });
  expect(begun).not.toHaveProperty('agent_id');
});

test('cancelling says so in an agent that a factory built, and in one in front of a workflow', async () => {
  const slow = () => {
    const reached = gate();
    const flow = workflow({
      id: 'slow',
      steps: [
        ({ signal }) => {
          reached.open();
          return new Promise<string>((_, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason)),
          );
        },
      ],
    });
    const model = scriptedModel([{ toolCalls: [call('slow', { input: 'x' })] }]);
    return { reached, host: agent({ id: 'host', model, tools: [flow] }) };
  };
  const one = slow();
  const made = await agentFactory({ id: 'made', build: () => one.host }).start('Go');
  const two = slow();
  const front = await workflow({ id: 'front', agent: two.host, steps: [() => 'never'] }).start('Go');
  for (const [run, { reached }] of [[made, one] as const, [front, two] as const]) {
    await reached.promise;
    await run.cancel('Enough');
    expect((await run.result()).status).toBe('cancelled');
    const names: string[] = [];
    for await (const { event } of run.events()) names.push(event);
    expect(names.filter((name) => name === 'WorkflowCancelled').length).toBe(run === made ? 1 : 2);
  }
});

test('limits of the component and of the agent hold', async () => {
  const chatty = agent({
    id: 'chatty',
    model: scriptedModel([
      ...Array.from({ length: 5 }, (_, index) => ({ toolCalls: [call('tick', {}, `tick ${index}`)] })),
      'Never.',
    ]),
    tools: [tool({ name: 'tick', description: 'x', execute: () => 'tock' })],
    limits: { turns: 2 },
  });
  const model = scriptedModel([{ toolCalls: [call('chatty', { input: 'x' })] }, 'Without it.']);
  const run = await agent({ id: 'host', model, tools: [chatty] }).runOrThrow('Go');
  expect(run.content).toBe('Without it.');
  expect(run.tools[0]).toMatchObject({
    error: true,
    result: expect.stringContaining("The agent 'chatty' failed"),
  });
});

test('wrong options of asTool() are refused', () => {
  // @ts-expect-error an option that it does not have
  expect(() => poet().asTool({ nmae: 'x' })).toThrow('nmae is not an option. Did you mean name?');
  expect(() => poet().asTool({ name: 'not a name' })).toThrow('name');
  // @ts-expect-error a text is no tool
  expect(() => agent({ id: 'x', model: 'offline', tools: ['poet'] })).toThrow(
    'an agent, a team or a workflow',
  );
  expect(() => agent({ id: 'x', model: 'offline', tools: [poet(), poet()] })).toThrow(
    "two tools named 'poet'",
  );
});
