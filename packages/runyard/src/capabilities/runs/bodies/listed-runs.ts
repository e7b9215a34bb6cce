import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { LoggedEvent } from '../../../core/runs/events/logged-event.js';
import { childrenOf } from '../../../core/runs/execution/child-run.js';
import { continuationsOf } from '../../../core/runs/resume/continuation.js';
import { isStreamed } from '../../../core/runs/run-options.js';
import { jsonListOf } from '../../../platform/http/response/json-stream.js';
import type { RunSpace } from '../../capability.js';
import { listedEvents } from '../events/listed-events.js';
import type { RunWithSteps } from '../storage/loaded-run-store.js';
import { jsonPiecesOf } from './body-reply.js';
import type { RunView } from './run-body.js';

/** A run with what a list shows of its events. */
export interface ListedRun {
  readonly view: RunView;
  /** Null for a run that was not streamed, apart from one of a workflow; undefined when they are not wanted. */
  readonly events: readonly LoggedEvent[] | null | undefined;
  /** The runs of the members of a team, the innermost first. */
  readonly members: readonly Omit<ListedRun, 'members'>[];
}

/** How many runs are held with their journals at once: each may hold a whole state of its session. */
const runsAtOnce = 8;

/** Runs with their journals, a few at a time, each with what happened up to now. */
export async function* journalsOf(
  { engine, runs }: RunSpace,
  runIds: readonly string[],
  atOnce = runsAtOnce,
): AsyncGenerator<RunWithSteps> {
  for (let at = 0; at < runIds.length; at += atOnce) {
    const some = runIds.slice(at, at + atOnce);
    // a reader of the stream of a live run may have seen what is not stored yet
    await Promise.allSettled(some.map((runId) => engine.storedUntil(runId)));
    yield* await runs.loadAll(some);
    // SQLite reads on this thread: others have their turn between two reads
    await endOfTurn();
  }
}

export async function* listedRuns(
  space: RunSpace,
  runIds: readonly string[],
  withEvents: boolean,
  wanted: (journal: RunWithSteps) => boolean = () => true,
): AsyncGenerator<ListedRun> {
  for await (const journal of journalsOf(space, runIds)) {
    if (!wanted(journal)) continue;
    yield await listedRun(space, journal, withEvents);
    await endOfTurn();
  }
}

/** A run as a list shows it. */
export async function listedRun(
  { runs }: RunSpace,
  journal: RunWithSteps,
  withEvents: boolean,
): Promise<ListedRun> {
  const streamed = isStreamed(journal.run, journal.steps);
  const isOver = journal.run.result !== null && !isUnfinished(journal);
  const eventsOf = (withEvents && streamed) || !isOver ? await listedEvents(runs, journal) : undefined;
  const listed = ({ run, steps }: RunWithSteps) => {
    const { events = [], soFar } = eventsOf?.({ run, steps }) ?? {};
    const none = run.kind === 'workflow' ? [] : null;
    return {
      view: { run, steps, ...(soFar !== undefined && { soFar }) },
      events: withEvents ? (streamed ? events : none) : undefined,
    };
  };
  return { ...listed(journal), members: membersOf(journal).map(listed) };
}

/** The JSON of a run in a list, its events at the end. Neither long texts nor the events stand whole in memory. */
export async function* listedRunJson(
  body: Readonly<Record<string, unknown>>,
  events: ListedRun['events'],
): AsyncGenerator<string> {
  let open = '';
  for await (const piece of jsonPiecesOf(body)) {
    yield open;
    open = piece;
  }
  if (events === undefined) {
    yield open;
    return;
  }
  // in place of the brace at the end
  yield `${open.slice(0, -1)},"events":`;
  if (events === null) yield 'null';
  else yield* jsonListOf(events.map(({ data, pieces }) => pieces?.() ?? [data]));
  yield '}';
}

/**
 * Whether all runs of a session are streamed ones whose end no client has seen. The older interface stores a session
 * when one of its runs pauses or ends, and does not know it until then.
 */
export async function isUnfinishedSession(space: RunSpace, sessionId: string): Promise<boolean> {
  if (await space.sessionRuns.hasRested(sessionId)) return false;
  const open = (await space.sessionRuns.open([sessionId])).map(({ runId }) => runId);
  for await (const journal of journalsOf(space, open)) {
    const { run, steps } = journal;
    const hasPaused = continuationsOf(steps).length > 0;
    if (!isUnfinished(journal) || hasPaused || !isStreamed(run, steps)) return false;
  }
  return open.length > 0;
}

/** The runs of the members of a team, the innermost first. Steps of a workflow are part of its body. */
function membersOf({ run, steps }: RunWithSteps): RunWithSteps[] {
  if (run.kind !== 'team') return [];
  return childrenOf(run, steps).flatMap((child) => [...membersOf(child), child]);
}

function isUnfinished({ run: { status } }: RunWithSteps): boolean {
  return status === 'pending' || status === 'running';
}
