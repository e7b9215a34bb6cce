import type { ToolCallBody } from '../../../core/events/agent-event.js';
import type { LoggedEvent } from '../../../core/runs/events/logged-event.js';
import { childrenOf } from '../../../core/runs/execution/child-run.js';
import { terminalStatuses } from '../../../core/runs/run.js';
import type { RunWithSteps } from '../storage/loaded-run-store.js';
import type { RunStore } from '../storage/store.js';
import { rebuiltEvents } from './rebuilt-events.js';
import { loggedEvents } from './stored-events.js';
import { isPiece } from './stream-events.js';

/** A run in a list has no more events than this: the first and the last half of them. */
export const maxListedEvents = 1_000;

/** What the events of a run say about it while it is not over. */
export interface SoFar {
  /** What it has said of its present answer. */
  readonly text: string;
  /** The tool calls that are being executed, as the wire shows them. */
  readonly tools: readonly ToolCallBody[];
}

/** What a run, or a run within it, has emitted. */
export interface ListedEvents {
  readonly events: readonly LoggedEvent[];
  readonly soFar: SoFar;
}

/** Reads the events of a run once, for itself and for the runs of its members. */
export async function listedEvents(
  store: RunStore,
  view: RunWithSteps,
): Promise<(inside: RunWithSteps) => ListedEvents> {
  const { run } = view;
  const around = runsAround(view);
  const bounded = new Map([...around.keys()].map((runId) => [runId, new BoundedEvents()]));
  const answers = terminalStatuses.has(run.status) ? undefined : new OpenAnswers();
  for await (const events of loggedEvents(store, view, answers !== undefined)) {
    for (const event of events) {
      const { runId } = event;
      // to wait for each piece would take longer than all of them
      const added = answers?.add(event, runId);
      if (added !== undefined) await added;
      if (isPiece(run.kind, event.name)) continue;
      for (const holder of around.get(runId) ?? [run.runId]) bounded.get(holder)?.add(event);
    }
  }
  return (inside) => {
    const { runId, kind, status } = inside.run;
    const events = bounded.get(runId)?.all() ?? [];
    return {
      // a team may leave out those of its members, and a copy has none of its own: they come from their journals
      events: events.length === 0 && terminalStatuses.has(status) ? fromJournal(inside) : events,
      soFar: answers?.of(runId, kind === 'workflow') ?? nothing,
    };
  };
}

const nothing: SoFar = { text: '', tools: [] };

function fromJournal({ run, steps }: RunWithSteps): readonly LoggedEvent[] {
  const events = rebuiltEvents({
    run: { ...run, nextEventIndex: run.nextEventIndex || maxListedEvents },
    steps,
  });
  return events.filter(({ name }) => !isPiece(run.kind, name));
}

/** Each run whose events are wanted, with those that its events count for: itself, and the runs around it. */
function runsAround(view: RunWithSteps, holders: readonly string[] = []): Map<string, readonly string[]> {
  const { run, steps } = view;
  const own = [...holders, run.runId];
  const found = new Map<string, readonly string[]>([[run.runId, own]]);
  if (run.kind !== 'team') return found;
  for (const child of childrenOf(run, steps))
    for (const [runId, all] of runsAround(child, own)) found.set(runId, all);
  return found;
}

/** Holds the first and the last of any number of events. */
class BoundedEvents {
  private readonly first: LoggedEvent[] = [];
  private last: LoggedEvent[] = [];

  add(event: LoggedEvent): void {
    if (this.first.length < maxListedEvents / 2) this.first.push(event);
    else {
      this.last.push(event);
      if (this.last.length === maxListedEvents) this.last = this.last.slice(-maxListedEvents / 2);
    }
  }

  all(): readonly LoggedEvent[] {
    return [...this.first, ...this.last.slice(-maxListedEvents / 2)];
  }
}

/** What the runs in a log have said so far of their answers, and which tools they use. */
class OpenAnswers {
  private readonly texts = new Map<string, string>();
  private readonly tools = new Map<string, Map<string, ToolCallBody>>();
  private lastRunId = '';

  /** An event that is not a piece of text may have to be read first. */
  add(event: LoggedEvent, runId: string): Promise<void> | undefined {
    const { name } = event;
    if (name !== 'RunContent' && name !== 'TeamRunContent')
      return name.includes('ToolCall') ? this.addDecoded(event, runId) : undefined;
    this.lastRunId = runId;
    const { piece } = event;
    if (piece === undefined) return this.addDecoded(event, runId);
    // each answer begins with an empty piece, also when it is given once more after a crash
    this.texts.set(runId, piece === '' ? '' : (this.texts.get(runId) ?? '') + piece);
    return undefined;
  }

  private async addDecoded(logged: LoggedEvent, runId: string): Promise<void> {
    const event = await logged.decoded();
    switch (event.event) {
      case 'RunContent':
      case 'TeamRunContent': {
        const { content } = event;
        this.texts.set(runId, typeof content === 'string' ? content : JSON.stringify(content ?? ''));
        return;
      }
      case 'ToolCallStarted':
      case 'TeamToolCallStarted':
        this.toolsOf(runId).set(event.tool.tool_call_id, event.tool);
        return;
      case 'ToolCallCompleted':
      case 'TeamToolCallCompleted':
      case 'ToolCallError':
      case 'TeamToolCallError':
        this.toolsOf(runId).delete(event.tool.tool_call_id);
    }
  }

  private toolsOf(runId: string): Map<string, ToolCallBody> {
    const known = this.tools.get(runId) ?? new Map<string, ToolCallBody>();
    this.tools.set(runId, known);
    return known;
  }

  /** The text of a workflow is that of the run in it that wrote last. */
  of(runId: string, isWorkflow: boolean): SoFar {
    return {
      text: this.texts.get(isWorkflow ? this.lastRunId : runId) ?? '',
      tools: [...(this.tools.get(runId)?.values() ?? [])],
    };
  }
}
