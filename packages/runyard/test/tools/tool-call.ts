import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../src/core/json.js';
import { silentLog } from '../../src/core/log.js';
import type { MediaContents } from '../../src/core/media/media.js';
import type { Timers } from '../../src/core/timers.js';
import { executeTool, type ToolEnvironment } from '../../src/core/tools/call/execute-tool.js';
import type { Approval } from '../../src/core/tools/call/gate.js';
import type { ToolOutcome } from '../../src/core/tools/call/tool-outcome.js';
import type { Tool } from '../../src/core/tools/tool.js';
import type { ToolCallSite } from '../../src/core/tools/tool-context.js';
import { systemTimers } from '../../src/platform/engine/local/timers.js';

/** Time that passes when the test says so. */
export class ManualTimers implements Timers {
  readonly delays: number[] = [];
  time = 0;
  #due: (() => void) | undefined;
  now = () => this.time;
  elapsed = () => this.time;
  soon = (work: () => void) => queueMicrotask(work);
  every = () => () => {};
  after(ms: number, work: () => void): () => void {
    this.delays.push(ms);
    this.#due = work;
    return () => {
      this.#due = undefined;
    };
  }
  get running(): boolean {
    return this.#due !== undefined;
  }
  elapse(): void {
    const due = this.#due;
    this.#due = undefined;
    due?.();
  }
}

/** A place for media that the test can look into. */
export class MediaShelf implements MediaContents {
  readonly stored = new Map<string, Uint8Array>();
  async put(bytes: Uint8Array): Promise<string> {
    const hash = `hash-${this.stored.size}`;
    this.stored.set(hash, bytes);
    return hash;
  }
  async get(hash: string): Promise<Uint8Array | undefined> {
    return this.stored.get(hash);
  }
}

function callSite(parts: Partial<ToolCallSite> = {}): ToolCallSite {
  const state = new Map<string, never>();
  return {
    runId: 'run',
    sessionId: 'session',
    userId: null,
    toolCallId: 'call',
    idempotencyKey: randomUUID(),
    signal: new AbortController().signal,
    state: {
      get: (key) => state.get(key),
      set: (key, value) => void state.set(key, value as never),
      delete: (key) => void state.delete(key),
      all: () => Object.fromEntries(state),
    },
    dependencies: {},
    metadata: {},
    media: [],
    messages: [],
    emit: async () => {},
    log: silentLog,
    ...parts,
  };
}

interface CallParts {
  readonly site?: Partial<ToolCallSite>;
  readonly environment?: Partial<ToolEnvironment>;
  readonly approval?: Approval;
  readonly id?: string;
}

/** Calls a tool as an agent would. */
export function callTool(
  used: Tool,
  args: JsonObject = {},
  { site, environment, approval, id = 'call' }: CallParts = {},
): Promise<ToolOutcome> {
  return executeTool(
    used,
    { id, name: used.name, arguments: JSON.stringify(args) },
    callSite(site),
    { timers: systemTimers, availableTools: [used.name], ...environment },
    approval,
  );
}
