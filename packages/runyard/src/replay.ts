import { existsSync } from 'node:fs';
import type { OpenBuiltOptions } from './capabilities/components/running/open-built.js';
import type { Component, ComponentsService } from './capabilities/components/service.js';
import { RunStore } from './capabilities/runs/storage/store.js';
import { errors, isReported, RunyardError } from './core/errors/errors.js';
import { ComponentFactory } from './core/factories/component-factory.js';
import { fingerprintIn } from './core/runs/journal/journal-format.js';
import { componentInWords, type Difference, differenceInWords } from './core/runs/journal/journal-match.js';
import { replayRun } from './core/runs/resume/replay.js';
import type { Run, RunKind, RunStatus, StepRecord } from './core/runs/run.js';
import { systemTimers } from './platform/engine/local/timers.js';
import type { Database } from './platform/storage/database.js';
import { schemaStatus } from './platform/storage/migrations/migrate.js';
import { sqlitePath } from './platform/storage/open.js';

/** A run that has not ended, with its journal: what an export holds. */
export interface WaitingRun {
  readonly database: string;
  readonly run: Run;
  readonly steps: readonly StepRecord[];
}

/** The result of replaying one run with the code. */
export interface ReplayedRun {
  readonly database: string;
  readonly run_id: string;
  readonly kind: RunKind;
  readonly component_id: string;
  readonly status: RunStatus;
  /** Null when the comparison broke off. */
  readonly fits: boolean | null;
  /** Why it does not fit, or could not be compared. */
  readonly reason?: string;
  readonly difference?: Difference;
  /** What could not be compared without executing it. */
  readonly left_out: readonly string[];
}

const pageSize = 20;

/** Refuses databases that are not there: opening one would make it. */
export function assertDatabasesExist(urls: readonly string[]): void {
  for (const url of urls) {
    const path = url.startsWith('sqlite:') ? sqlitePath(url) : undefined;
    if (path !== undefined && !existsSync(path))
      throw errors.databaseUnavailable(`There is no database at ${path} to take runs from.`, undefined);
  }
}

/** The runs of these databases that have not ended, with their journals, a few at a time. Nothing is written. */
export async function* waitingRuns(databases: readonly Database[]): AsyncGenerator<WaitingRun, void, void> {
  for (const database of databases) await assertReadable(database);
  for (const database of databases) {
    const runs = new RunStore(database);
    for (let after = ''; ; ) {
      const ids = await runs.unended(after, pageSize);
      for (const id of ids) {
        const loaded = await runs.load(id);
        // it may have been removed since
        if (loaded !== undefined) yield { database: database.id, ...loaded };
      }
      if (ids.length < pageSize) break;
      after = ids.at(-1) ?? '';
    }
  }
}

/** The code at hand reads the schema that it knows. */
async function assertReadable(database: Database): Promise<void> {
  const { current, latest, pending } = await schemaStatus(database);
  if (pending.length > 0) throw errors.notReplayable(database.id, current, latest);
}

/** Takes runs through the components without executing or writing anything. */
export async function* replayRuns(
  components: ComponentsService,
  runs: AsyncIterable<WaitingRun>,
): AsyncGenerator<ReplayedRun, void, void> {
  for await (const waiting of runs) yield replayed(components, waiting);
}

/** The same with what is stored in the first of these databases; with none, the components read it already. */
export async function* replayStored(
  site: Omit<OpenBuiltOptions, 'databases' | 'spaces'> & { databases(): Promise<readonly Database[]> },
  runs: AsyncIterable<WaitingRun>,
): AsyncGenerator<ReplayedRun, void, void> {
  const { components } = site;
  let databases: readonly Database[] | undefined;
  let disconnect = () => {};
  try {
    for await (const waiting of runs) {
      if (databases === undefined) {
        databases = await site.databases();
        const { openBuilt } = await import('./capabilities/components/running/open-built.js');
        if (databases.length > 0) disconnect = components.connect(openBuilt({ ...site, databases }));
      }
      yield replayed(components, waiting);
    }
  } finally {
    disconnect();
  }
}

async function replayed(
  components: ComponentsService,
  { database, run, steps }: WaitingRun,
): Promise<ReplayedRun> {
  const { runId, kind, componentId, status } = run;
  const facts = { database, run_id: runId, kind, component_id: componentId, status };
  let component: Component | undefined;
  try {
    component = await components.ofRun(run);
  } catch (error) {
    if (isReported(error) || !(error instanceof RunyardError)) throw error;
    return { ...facts, fits: null, reason: error.message, left_out: [] };
  }
  if (component === undefined) {
    const reason = `The ${componentInWords(run)} is no longer registered.`;
    return { ...facts, fits: false, reason, left_out: [] };
  }
  if (component instanceof ComponentFactory)
    return { ...facts, fits: true, left_out: [`what the factory '${componentId}' builds`] };
  if (fingerprintIn(run) === component.fingerprint) return { ...facts, fits: true, left_out: [] };
  const { difference, leftOut, brokeOff } = await replayRun(component, run, steps, systemTimers);
  if (difference === undefined && brokeOff !== undefined)
    return { ...facts, fits: null, reason: brokeOff, left_out: leftOut };
  if (difference === undefined) return { ...facts, fits: true, left_out: leftOut };
  const reason = `The ${componentInWords(run)} has changed: ${differenceInWords(difference)}.`;
  return { ...facts, fits: false, reason, difference, left_out: leftOut };
}
