import type { AuxiliaryRecord, HookRecord, ModelRecord } from '../../../src/core/agents/journal-records.js';
import type { Run, StepKind, StepRecord } from '../../../src/core/runs/run.js';

/** Writes the journal of an agent's run by hand, step after step, in the order in which the steps begin. */
export class JournalSteps {
  readonly steps: StepRecord[] = [];

  add(key: string, kind: StepKind, output: unknown, more: Partial<StepRecord> = {}): this {
    const seq = this.steps.length;
    this.steps.push({
      runId: 'r1',
      seq,
      key,
      kind,
      name: key,
      parentKey: null,
      status: 'completed',
      attempt: 1,
      input: null,
      output,
      error: null,
      startedAt: 1_000 * seq,
      endedAt: 1_000 * seq + 500,
      ...more,
    });
    return this;
  }

  context(user: string, more: { system?: string; history?: string[] } = {}): this {
    return this.add('context', 'context', { user, system: more.system ?? null, history: more.history ?? [] });
  }

  /** A model call that requests as many tool calls as it is given. */
  model(turn: number, content: string, calls = 0, more: Partial<StepRecord> = {}): this {
    const record: ModelRecord = {
      content,
      finishReason: 'stop',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      timeToFirstToken: 0,
      ...(calls > 0 && {
        toolCalls: Array.from({ length: calls }, (_, position) => ({
          id: `c${turn}${position}`,
          name: 'look',
          arguments: '{}',
        })),
      }),
    };
    return this.add(`model:${turn}`, 'model', record, more);
  }

  tool(turn: number, position: number, content: string, more: Partial<StepRecord> = {}): this {
    const record = { callId: `c${turn}${position}`, content, error: false, args: {}, listed: true };
    return this.add(`tool:${turn}:${position}`, 'tool', record, more);
  }

  said(attempt: number, turn: number, input: string | null): this {
    return this.add(`continue:${attempt}`, 'continue', { turn, input, options: {} }, { attempt });
  }

  hook(key: string, record: HookRecord): this {
    return this.add(key, 'hook', record);
  }

  auxiliary(key: string, more: Partial<StepRecord> = {}): this {
    const record: AuxiliaryRecord = {
      content: key,
      role: 'model',
      finishReason: 'stop',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      timeToFirstToken: 0,
      model: { id: 'small', provider: 'Acme' },
    };
    return this.add(key, 'auxiliary', record, more);
  }
}

export function runWith(more: Partial<Run> = {}): Run {
  return {
    runId: 'r1',
    kind: 'agent',
    componentId: 'a',
    componentName: 'A',
    sessionId: 's1',
    userId: null,
    parentRunId: null,
    model: null,
    modelProvider: null,
    input: { content: 'hello', media: [], options: { stream: false } },
    createdAt: 0,
    status: 'completed',
    result: { content: 'done', contentType: 'str' },
    attempt: 1,
    leaseOwner: null,
    leaseExpiresAt: null,
    nextEventIndex: 0,
    updatedAt: 99_000,
    wakeAt: null,
    lineage: null,
    traceParent: null,
    definition: null,
    askers: [],
    ...more,
  };
}
