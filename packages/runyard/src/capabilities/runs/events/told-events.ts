import type { JsonObject } from '../../../core/json.js';
import type { DeltaTemplate, LoggedEvent } from '../../../core/runs/events/logged-event.js';
import { childrenOf } from '../../../core/runs/execution/child-run.js';
import { terminalStatuses } from '../../../core/runs/run.js';
import type { RunStore, RunWithSteps } from '../storage/store.js';
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
  readonly tools: readonly JsonObject[];
}

/** What a run, or a run within it, has emitted. */
export interface Told {
  readonly events: readonly LoggedEvent[];
  readonly soFar: SoFar;
}

/** Reads the events of a run once, for itself and for the runs of its members. */
export async function toldBy(store: RunStore, view: RunWithSteps): Promise<(inside: RunWithSteps) => Told> {
  const { run } = view;
  const around = runsAround(view);
  const bounded = new Map([...around.keys()].map((runId) => [runId, new BoundedEvents()]));
  const speech = terminalStatuses.has(run.status) ? undefined : new Speech();
  for await (const events of loggedEvents(store, view, speech !== undefined)) {
    for (const event of events) {
      const runId = runIdOf(event);
      // to wait for each piece would take longer than all of them
      const heard = speech?.hear(event, runId);
      if (heard !== undefined) await heard;
      if (isPiece(run.kind, event.name)) continue;
      for (const holder of around.get(runId) ?? [run.runId]) bounded.get(holder)!.add(event);
    }
  }
  return (inside) => {
    const { runId, kind, status } = inside.run;
    const events = bounded.get(runId)?.all() ?? [];
    return {
      // a team may keep quiet about its members, and a copy has no events of its own: their journals tell
      events: events.length === 0 && terminalStatuses.has(status) ? fromJournal(inside) : events,
      soFar: speech?.of(runId, kind === 'workflow') ?? nothing,
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

/** What the runs in a log are saying, and which tools they use. */
class Speech {
  private readonly texts = new Map<string, string>();
  private readonly tools = new Map<string, Map<unknown, JsonObject>>();
  private lastSpeaker = '';

  /** Of an event that is not a piece of text, it may have to be read first. */
  hear(event: LoggedEvent, runId: string): Promise<void> | undefined {
    const { template, text, name } = event;
    if (contents.has(name)) {
      this.lastSpeaker = runId;
      if (template === null) return this.hearWhole(event, runId);
      const piece = JSON.parse(text) as string;
      // each answer begins with an empty piece, also when it is given once more after a crash
      this.texts.set(runId, piece === '' ? '' : (this.texts.get(runId) ?? '') + piece);
    } else if (toolCalls.has(name)) return this.hearTool(event, runId);
    return undefined;
  }

  private async hearWhole(event: LoggedEvent, runId: string): Promise<void> {
    const { content } = JSON.parse(await event.whole()) as JsonObject;
    this.texts.set(runId, typeof content === 'string' ? content : JSON.stringify(content ?? ''));
  }

  private async hearTool(event: LoggedEvent, runId: string): Promise<void> {
    const { tool } = JSON.parse(await event.whole()) as { tool: JsonObject };
    const open = this.tools.get(runId) ?? new Map<unknown, JsonObject>();
    this.tools.set(runId, open);
    if (event.name.endsWith('Started')) open.set(tool.tool_call_id, tool);
    else open.delete(tool.tool_call_id);
  }

  /** A workflow says what the run says that spoke last in it. */
  of(runId: string, isWorkflow: boolean): SoFar {
    return {
      text: this.texts.get(isWorkflow ? this.lastSpeaker : runId) ?? '',
      tools: [...(this.tools.get(runId)?.values() ?? [])],
    };
  }
}

const contents = new Set(['RunContent', 'TeamRunContent']);
const toolCalls = new Set(
  ['ToolCallStarted', 'ToolCallCompleted', 'ToolCallError'].flatMap((name) => [name, `Team${name}`]),
);

const runIdsOfTemplates = new WeakMap<DeltaTemplate, string>();

/** The run that an event is of. Quotes within texts are escaped, so the first field of this name is the event's own. */
function runIdOf({ template, data }: LoggedEvent): string {
  const known = template && runIdsOfTemplates.get(template);
  if (typeof known === 'string') return known;
  const found = /"run_id":("(?:[^"\\]|\\.)*")/.exec(template?.prefix ?? data)?.[1];
  const runId = found === undefined ? '' : (JSON.parse(found) as string);
  if (template !== null) runIdsOfTemplates.set(template, runId);
  return runId;
}
