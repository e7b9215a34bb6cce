import { onTestFinished } from 'vitest';
import { RunStore } from '../../src/capabilities/runs/storage/store.js';
import type { RunEvent } from '../../src/core/events/run-event.js';
import { InProcessLearnings } from '../../src/core/learnings/in-process-learnings.js';
import { silentLog } from '../../src/core/log.js';
import { InProcessMemories } from '../../src/core/memory/in-process-memories.js';
import { InProcessResponses } from '../../src/core/models/cache/in-process-responses.js';
import type { RunContext } from '../../src/core/runs/context.js';
import { RunEngine } from '../../src/core/runs/engine.js';
import type { EngineOptions } from '../../src/core/runs/engine-options.js';
import type { LoggedEvent } from '../../src/core/runs/events/logged-event.js';
import type { Executable, RunEnd } from '../../src/core/runs/executable.js';
import type { RunHandle } from '../../src/core/runs/execution/run-handle.js';
import type { ContinueRecord } from '../../src/core/runs/journal/records.js';
import { unlimitedSlots } from '../../src/core/runs/leases/run-slots.js';
import { InProcessNotifications } from '../../src/core/runs/notifications/in-process-notifications.js';
import type { RunAnswers } from '../../src/core/runs/resume/resting-runs.js';
import type { RunResult } from '../../src/core/runs/run.js';
import type { RunPorts } from '../../src/core/runs/run-ports.js';
import type { RunRequest } from '../../src/core/runs/run-request.js';
import { systemTimers } from '../../src/platform/engine/local/timers.js';
import { freshSqlite } from '../support/databases.js';

const endNames = {
  completed: 'RunCompleted',
  error: 'RunError',
  cancelled: 'RunCancelled',
  paused: 'RunPaused',
} as const;

/** A component made of one function, with events that are easy to recognise. */
export function executable(id: string, execute: (context: RunContext) => Promise<unknown>): Executable {
  return {
    kind: 'agent',
    id,
    name: id,
    model: null,
    eventFields: { agent_id: id },
    initialState: {},
    execute: async (context): Promise<RunResult> => ({
      content: ((await execute(context)) ?? '') as string,
      contentType: 'str',
    }),
    endEvents: ({ status, result }: RunEnd) => [
      { event: endNames[status], content: result.content } as RunEvent,
    ],
  };
}

/** A store in a fresh SQLite file, to put engines over as if each was a process of its own. */
export async function freshStore(): Promise<RunStore> {
  const place = await freshSqlite();
  return new RunStore(await place.open());
}

let engines = 0;

export function engineOver(
  store: RunStore,
  components: readonly Executable[],
  { ports, ...options }: Partial<Omit<EngineOptions, 'ports'>> & { ports?: Partial<RunPorts> } = {},
): RunEngine {
  engines += 1;
  const engine = new RunEngine({
    journal: store,
    leases: store.leases,
    queue: store.queue,
    notifications: new InProcessNotifications(),
    ports: {
      media: { put: async () => '', get: async () => undefined },
      memories: new InProcessMemories(),
      learnings: new InProcessLearnings(),
      responses: new InProcessResponses(systemTimers),
      receivedEvents: store.receivedEvents,
      pastSessions: { latest: async () => [], read: async () => undefined },
      recall: { put: async () => {}, nearest: async () => [] },
      ...ports,
    },
    timers: systemTimers,
    log: silentLog,
    owner: `test:${engines}`,
    leaseMs: 60_000,
    slots: unlimitedSlots(),
    resolve: ({ componentId }) => components.find(({ id }) => id === componentId),
    isTransient: () => false,
    ...options,
  });
  onTestFinished(() => engine.stop(0));
  return engine;
}

export function begin(
  engine: RunEngine,
  component: Executable,
  more: Partial<RunRequest> = {},
): Promise<RunHandle> {
  return engine.start(component, {
    input: { content: 'hello', media: [], options: { stream: true } },
    userId: null,
    background: false,
    ...more,
  });
}

export async function allEvents(
  handle: { events(from?: number): { next(): Promise<readonly LoggedEvent[] | null> } },
  from = 0,
) {
  const seen: LoggedEvent[] = [];
  const reader = handle.events(from);
  for (let events = await reader.next(); events !== null; events = await reader.next()) seen.push(...events);
  return seen;
}

/** A promise that the test settles. */
export function gate<T = void>() {
  let open!: (value: T) => void;
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

/** The request to continue adds and changes nothing. */
export const goOn: ContinueRecord = { turn: 0, input: null, options: {} };

export function answers(given: Record<string, unknown>): RunAnswers {
  return { answers: new Map(Object.entries(given)), continuation: goOn };
}

export function note(text: string): RunEvent {
  return { event: 'RunIntermediateContent', content: text, content_type: 'str' };
}

/** Passes everything on to the original, except what a test replaces. */
export function changed<T extends object>(original: T, changes: Partial<T>): T {
  return new Proxy(original, {
    get: (target, name) => {
      const own = (changes as Record<PropertyKey, unknown>)[name] ?? Reflect.get(target, name, target);
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });
}
