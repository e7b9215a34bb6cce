import { expect, test } from 'vitest';
import { type AgentSettings, agent, tool } from '../../../src/index.js';
import { type ScriptedModel, type ScriptedTurn, scriptedModel } from '../../../src/testing.js';
import { allEvents, begin, engineOver, freshStore, gate } from '../harness.js';

const step = JSON.stringify({ title: 'Plan', reasoning: 'hm', next_action: 'final_answer' });
const summary = JSON.stringify({ summary: 'About miles.', topics: [] });
const big = tool({ name: 'big', description: 'Much', execute: () => 'many words '.repeat(200) });
const callBig = { toolCalls: [{ name: 'big' }] };

interface Models {
  readonly model: ScriptedModel;
  readonly reasoningModel: ScriptedModel;
  readonly compressionModel: ScriptedModel;
  readonly followupModel: ScriptedModel;
  readonly sessionSummaryModel: ScriptedModel;
}

type Stage = Exclude<keyof Models, 'model'>;

const answers: Record<keyof Models, readonly ScriptedTurn[]> = {
  model: [callBig, callBig, 'Nine.'],
  reasoningModel: [step],
  compressionModel: ['few words'],
  followupModel: ['["Why?"]'],
  sessionSummaryModel: [summary],
};

/** An agent with every stage, one of which hangs the first time it is called. */
function hangingIn(stage: Stage) {
  const reached = gate();
  const hang: ScriptedTurn = {
    waitFor: (signal) => {
      reached.open();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  };
  const models = Object.fromEntries(
    Object.entries(answers).map(([name, turns]) => [
      name,
      scriptedModel(name === stage ? [hang, ...turns] : turns, { id: name }),
    ]),
  ) as unknown as Models;
  const settings: AgentSettings = {
    id: 'a',
    ...models,
    tools: [big],
    compressToolResults: true,
    compressToolResultsAboveTokens: 600,
    followups: true,
    enableSessionSummaries: true,
  };
  return { component: agent(settings), models, reached: reached.promise };
}

const completed = [
  'RunStarted',
  'ReasoningStarted',
  'ReasoningStep',
  'ReasoningCompleted',
  'CompressionStarted',
  'CompressionCompleted',
  'FollowupsStarted',
  'FollowupsCompleted',
  'RunContentCompleted',
  'SessionSummaryStarted',
  'SessionSummaryCompleted',
  'RunCompleted',
];

const stages: Stage[] = ['reasoningModel', 'compressionModel', 'followupModel', 'sessionSummaryModel'];

test.each(stages)(
  'a run whose process dies in its %s continues there, and does nothing twice',
  async (stage) => {
    const { component, models, reached } = hangingIn(stage);
    const store = await freshStore();
    const dead = engineOver(store, [component], { owner: 'dead', leaseMs: 1 });
    const handle = await begin(dead, component, { background: true, sessionId: 's' });
    await reached;
    const role = stage.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    await expect.poll(async () => (await store.load(handle.runId))?.steps.at(-1)?.name).toBe(role);
    await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);

    const next = engineOver(store, [component]);
    await next.recover();
    const { run } = await next.handle(handle.runId)!.ended;
    expect(run).toMatchObject({
      status: 'completed',
      attempt: 2,
      result: {
        content: 'Nine.',
        extra: { followups: ['Why?'], reasoning_steps: [expect.objectContaining({ title: 'Plan' })] },
      },
    });
    for (const [name, turns] of Object.entries(answers)) {
      const calls = models[name as keyof Models].requests.length;
      expect([name, calls]).toEqual([name, turns.length + (name === stage ? 1 : 0)]);
    }
    expect(await store.summary('s')).toMatchObject({ summary: 'About miles.', coversUntil: run.createdAt });
    const last = models.model.requests.at(-1)!.messages.filter(({ role }) => role === 'tool');
    expect(last.map(({ content }) => content.slice(0, 9))).toEqual(['few words', 'many word']);
    const names = (await allEvents({ events: () => next.events(handle.runId, 0) })).map(({ name }) => name);
    expect(names.filter((name) => completed.includes(name) && name !== 'RunStarted')).toEqual(
      completed.slice(1),
    );
  },
);

test('a stop in the middle of a stage is not taken for its failure', async () => {
  const { component, models, reached } = hangingIn('followupModel');
  const store = await freshStore();
  const engine = engineOver(store, [component]);
  const handle = await begin(engine, component);
  await reached;
  await engine.stop(1);
  await expect(handle.ended).rejects.toMatchObject({ name: 'RunReleased' });
  const next = engineOver(store, [component]);
  await next.recover();
  await expect.poll(async () => (await store.load(handle.runId))?.run.status).toBe('completed');
  expect((await store.load(handle.runId))?.run.result?.extra?.followups).toEqual(['Why?']);
  expect(models.followupModel.requests).toHaveLength(2);
});

test('a stage that failed has failed for good, however often the run is executed', async () => {
  const { component, models, reached } = hangingIn('sessionSummaryModel');
  const followupModel = scriptedModel([{ error: 'overloaded' }, '["never asked again"]']);
  const flawed = agent({ ...component.settings, followupModel });
  const store = await freshStore();
  const dead = engineOver(store, [flawed], { owner: 'dead', leaseMs: 1 });
  const handle = await begin(dead, flawed, { background: true });
  await reached;
  await expect.poll(async () => (await store.load(handle.runId))?.steps.at(-1)?.key).toBe('session-summary');
  await expect.poll(async () => (await store.leases.expired(10, 0)).length).toBe(1);
  const next = engineOver(store, [flawed]);
  await next.recover();
  const { run } = await next.handle(handle.runId)!.ended;
  expect(run.result).toMatchObject({ content: 'Nine.' });
  expect(run.result?.extra).not.toHaveProperty('followups');
  expect(run.result?.metrics?.details).not.toHaveProperty('followup_model');
  expect(followupModel.requests).toHaveLength(1);
  expect(models.sessionSummaryModel.requests).toHaveLength(2);
});

test('a run that ends late adds to the summary of a later one', async () => {
  const store = await freshStore();
  const held = gate();
  const reached = gate();
  const model = scriptedModel(async ({ messages }) => {
    const asked = messages.at(-1)!.content;
    if (asked === 'slow') {
      reached.open();
      await held.promise;
    }
    return asked;
  });
  const sessionSummaryModel = scriptedModel(({ messages }) => {
    const material = messages.at(-1)!.content;
    const before = /<summary_so_far>\n(.*)\n/.exec(material)?.[1];
    const said = /user: (\w+)/.exec(material)?.[1];
    return JSON.stringify({ summary: [before, said].filter(Boolean).join(' then '), topics: [] });
  });
  const component = agent({ id: 'a', model, enableSessionSummaries: true, sessionSummaryModel });
  const engine = engineOver(store, [component]);
  const say = (content: string) =>
    begin(engine, component, {
      sessionId: 's',
      input: { content, media: [], options: { stream: false } },
    });
  const slow = await say('slow');
  await reached.promise;
  const quick = await (await say('quick')).ended;
  held.open();
  await slow.ended;
  const summary = await store.summary('s');
  expect(summary?.summary).toBe('quick then slow');
  // it covers more than the one it was made from: that one does not come back when its run is executed again
  expect(summary?.coversUntil).toBeGreaterThan(quick.run.createdAt);
});
