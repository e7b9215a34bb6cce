import { describe, expect, test } from 'vitest';
import { RunStore } from '../../../src/capabilities/runs/storage/store.js';
import { indexGap } from '../../../src/core/runs/events/event-log.js';
import type { Executable } from '../../../src/core/runs/executable.js';
import {
  agent,
  type StepContext,
  step,
  type ToolContext,
  tool,
  type WorkflowContext,
  workflow,
} from '../../../src/index.js';
import { scriptedModel } from '../../../src/testing.js';
import { type LogLine, recordingLog } from '../../support/clients/http-server.js';
import { freshSqlite } from '../../support/databases.js';
import { gate, until } from '../../support/until.js';
import { allEvents, begin, engineOver, freshStore } from '../harness.js';

type Reporter = Pick<ToolContext | StepContext | WorkflowContext, 'emit'>;

const calls = (name: string) => ({ toolCalls: [{ id: 'c1', name, arguments: '{}' }] });

/** An agent that calls the tool, and says something afterwards. */
function working(used: Parameters<typeof tool>[0], last = () => 'done') {
  const model = scriptedModel(({ messages }) =>
    messages.some(({ role }) => role === 'tool') ? last() : calls(used.name),
  );
  return agent({ id: 'a', model, tools: [tool(used)] });
}

async function run(component: Executable, store: RunStore | undefined = undefined, lines: LogLine[] = []) {
  const place = store ?? (await freshStore());
  const handle = await begin(engineOver(place, [component], { log: recordingLog(lines) }), component);
  const { run: ended, steps } = await handle.ended;
  const events = (await allEvents(handle)).map(({ data }) => JSON.parse(data));
  return { ended, steps, events, handle, store: place };
}

const custom = (events: { event: string }[]) => events.filter(({ event }) => event === 'CustomEvent');

describe('what is reported late is ignored', () => {
  test('by a tool whose time was up, while the run continues', async () => {
    let reporter: ToolContext | undefined;
    const component = working(
      {
        name: 'slow',
        description: 'x',
        timeoutMs: 5,
        execute: async (_args, context) => {
          reporter = context;
          await context.emit({ at: 'work' });
          return new Promise(() => {});
        },
      },
      // the model is asked again only after the call has ended
      () => {
        void reporter!.emit({ at: 'late' });
        void reporter!.progress(0.9, 'late');
        return 'done';
      },
    );
    const { ended, events } = await run(component);
    expect(ended.status).toBe('completed');
    expect(custom(events)).toMatchObject([{ at: 'work' }]);
  });

  test('by a tool, a step and a function whose run has ended, however often', async () => {
    const reporters: Reporter[] = [];
    const report = (context: Reporter) => {
      reporters.push(context);
      return 'x';
    };
    const components = [
      working({ name: 'quick', description: 'x', execute: (_args, context) => report(context) }),
      workflow({ id: 'w', steps: [step({ name: 's', run: report })] }),
      workflow({ id: 'f', steps: report }),
    ];
    for (const component of components) {
      const { ended, handle, store } = await run(component);
      const reporter = reporters.at(-1)!;
      for (let times = 0; times < 100; times += 1) expect(() => reporter.emit({ times })).not.toThrow();
      await reporter.emit({ awaited: true });
      const { nextEventIndex } = (await store.load(handle.runId))!.run;
      expect(nextEventIndex).toBe(ended.nextEventIndex);
    }
    expect(reporters).toHaveLength(3);
  });

  test('by a tool that reports in an endless loop: no caller has to wait for it', async () => {
    let rounds = 0;
    let stop = false;
    const component = working({
      name: 'endless',
      description: 'x',
      timeoutMs: 5,
      execute: async (_args, { emit }) => {
        while (!stop) {
          rounds += 1;
          await emit({ rounds });
        }
      },
    });
    const { ended } = await run(component);
    expect(ended.status).toBe('completed');
    const sent = rounds;
    // were it not held up, no timer would ever fire again
    await until('it has been held up', () => rounds > sent + 1);
    stop = true;
  });

  test('by a hook that calls the tool after the call has ended, or does not look at its failure', async () => {
    let executed = 0;
    let next: (() => Promise<unknown>) | undefined;
    const component = agent({
      id: 'a',
      model: scriptedModel([calls('broken'), 'done']),
      tools: [
        tool({
          name: 'broken',
          description: 'x',
          execute: () => {
            executed += 1;
            throw new Error('broken');
          },
        }),
      ],
      toolHooks: [
        (_call, callTool) => {
          next = callTool;
          void callTool();
          return 'from the hook';
        },
      ],
    });
    const { ended } = await run(component);
    expect(ended.status).toBe('completed');
    await expect(next!()).rejects.toThrow('its call has ended');
    expect(executed).toBe(1);
  });

  test('by a function of a workflow that runs something after its end', async () => {
    let context: WorkflowContext | undefined;
    const component = workflow({
      id: 'w',
      steps: (given) => {
        context = given;
        return 'x';
      },
    });
    await run(component);
    const model = scriptedModel(['never']);
    await expect(context!.run(agent({ id: 'late', model }), 'hi')).rejects.toThrow('has ended');
    expect(model.requests).toHaveLength(0);
  });

  test('by a tool of a run that has paused, and of one that another process took over', async () => {
    let reporter: ToolContext | undefined;
    const reporting = tool({
      name: 'reporting',
      description: 'x',
      execute: (_args, context) => {
        reporter = context;
        return 'x';
      },
    });
    const pausing = agent({
      id: 'a',
      model: scriptedModel([
        {
          toolCalls: [
            { id: 'c1', name: 'reporting', arguments: '{}' },
            { id: 'c2', name: 'gated', arguments: '{}' },
          ],
        },
      ]),
      tools: [
        reporting,
        tool({ name: 'gated', description: 'x', requiresConfirmation: true, execute: () => 'y' }),
      ],
    });
    const paused = await run(pausing);
    expect(paused.ended.status).toBe('paused');
    await reporter!.emit({ late: true });
    await reporter!.progress(0.9, 'late');
    expect((await paused.store.load(paused.handle.runId))!.run.nextEventIndex).toBe(
      paused.ended.nextEventIndex,
    );

    const held = gate();
    let executions = 0;
    const handedOver = working({
      name: 'slow',
      description: 'x',
      execute: async (_args, context) => {
        executions += 1;
        if (executions > 1) return 'again';
        reporter = context;
        await held.opened;
        return 'late';
      },
    });
    const store = await freshStore();
    const first = engineOver(store, [handedOver]);
    const handle = await begin(first, handedOver, { background: true });
    reporter = undefined;
    await until('the tool is at work', () => reporter !== undefined);
    await first.stop(0);
    const second = engineOver(store, [handedOver]);
    await second.recover();
    await until(
      'the other process has ended the run',
      async () => (await store.load(handle.runId))!.run.status === 'completed',
    );
    const { nextEventIndex } = (await store.load(handle.runId))!.run;
    await (reporter as ToolContext | undefined)!.emit({ late: true });
    held.open();
    await (reporter as ToolContext | undefined)!.emit({ late: true });
    expect((await store.load(handle.runId))!.run.nextEventIndex).toBe(nextEventIndex);
    const events = await allEvents({ events: () => second.events(handle.runId, 0) });
    expect(custom(events.map(({ data }) => JSON.parse(data)))).toEqual([]);
  });
});

test('an event that cannot be written is logged, and an error for callers who wait', async () => {
  const lines: LogLine[] = [];
  const component = working({
    name: 'odd',
    description: 'x',
    execute: async (_args, { emit }) => {
      void emit({ count: 1n as never });
      return emit({ count: 2n as never }).catch((error: Error) => error.message);
    },
  });
  const { steps } = await run(component, undefined, lines);
  expect(steps.find(({ kind }) => kind === 'tool')?.output).toMatchObject({
    content: expect.stringContaining('BigInt'),
  });
  expect(lines.filter(({ message }) => message === 'a custom event could not be sent')).toHaveLength(2);
});

/** A store whose writes wait at a gate once it is closed. */
async function gatedStore() {
  const database = await (await freshSqlite()).open();
  const store = new RunStore(database);
  const commit = store.commit.bind(store);
  let open: Promise<void> | undefined;
  store.commit = async (writes) => {
    await open;
    return commit(writes);
  };
  return {
    store,
    other: new RunStore(database),
    close() {
      const held = gate();
      open = held.opened;
      return held.open;
    },
  };
}

describe('custom events', () => {
  test('wait for storage, and all of them arrive in order', async () => {
    const { store, close } = await gatedStore();
    const count = 20_000;
    let sent = 0;
    let open = () => {};
    const component = working({
      name: 'busy',
      description: 'x',
      execute: async (_args, { emit }) => {
        open = close();
        for (; sent < count; sent += 1) await emit({ number: sent });
      },
    });
    const running = run(component, store);
    let before = -1;
    await until('it waits', () => {
      const still = sent === before && sent > 0;
      before = sent;
      return still;
    });
    expect(sent).toBeLessThan(10_000);
    open();
    const { events, ended } = await running;
    expect(ended.status).toBe('completed');
    expect(custom(events).map((event) => (event as unknown as { number: number }).number)).toEqual(
      Array.from({ length: count }, (_, number) => number),
    );
  });

  test('that the tool does not await end the run before they fill the memory', async () => {
    const padding = 'x'.repeat(10_000);
    let sent = 0;
    const component = working({
      name: 'careless',
      description: 'x',
      execute: (_args, { emit, signal }) => {
        for (; sent < 10_000; sent += 1) void emit({ padding });
        return new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    });
    const { ended, events } = await run(component);
    expect(ended).toMatchObject({
      status: 'error',
      result: { error: { type: 'too_many_events', message: expect.stringContaining('more than 16 MiB') } },
    });
    expect(custom(events).length).toBeGreaterThan(1_000);
    expect(custom(events).length).toBeLessThan(2_000);
  });

  test('of which more than the gap are not stored use no index twice after a crash', async () => {
    const { store, other, close } = await gatedStore();
    const count = 25_000;
    let executions = 0;
    const component = working({
      name: 'careless',
      description: 'x',
      onUnknownOutcome: 'retry',
      execute: (_args, { emit }) => {
        executions += 1;
        if (executions > 1) return emit({ second: true }).then(() => 'done');
        close();
        for (let number = 0; number < count; number += 1) void emit({ number });
        return new Promise(() => {});
      },
    });
    const dead = engineOver(store, [component], { owner: 'dead', leaseMs: 1 });
    const handle = await begin(dead, component, { background: true });
    const reader = handle.events();
    const shown: number[] = [];
    void (async () => {
      for (let events = await reader.next(); events !== null; events = await reader.next())
        shown.push(...events.map(({ index }) => index));
    })();
    await until('all that may be shown is shown', () => shown.length >= indexGap);
    // another process, whose storage answers
    const engine = engineOver(other, [component], { owner: 'other' });
    await until('the lease is over', async () => {
      await engine.recover();
      return (await other.load(handle.runId))?.run.status === 'completed';
    });
    const { run: ended } = (await other.load(handle.runId))!;
    expect(shown.length).toBeLessThan(count);
    const later = await allEvents({ events: () => engine.events(handle.runId, shown.at(-1)! + 1) });
    expect(later.map(({ index }) => index).filter((index) => shown.includes(index))).toEqual([]);
    expect(custom(later.map(({ data }) => JSON.parse(data)))).toMatchObject([{ second: true }]);
    expect(later[0]!.index).toBeGreaterThan(shown.at(-1)!);
    expect(ended.nextEventIndex).toBe(later.at(-1)!.index + 1);
  });
});
