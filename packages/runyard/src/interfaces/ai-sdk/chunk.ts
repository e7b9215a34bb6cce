import type { RunsService } from '../../capabilities/runs/service.js';
import type { JsonObject } from '../../core/json.js';

/** A chunk of the UI message stream. */
export type Chunk = JsonObject & { type: string };

/** A run with its journal. */
export type RunJournal = Awaited<ReturnType<RunsService['journal']>>;

/** A run at rest: its journal, and its body as the REST API has it. */
export interface RestedRun {
  readonly view: RunJournal;
  readonly body: Readonly<Record<string, unknown>>;
}
