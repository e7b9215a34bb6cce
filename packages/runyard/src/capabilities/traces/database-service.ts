import type { ModelPrices } from '../../core/models/prices.js';
import type { RunJournal } from '../../core/runs/journal/ports.js';
import type { Run, RunKind } from '../../core/runs/run.js';
import { redactSpans, type TraceRedaction } from '../../core/traces/redaction.js';
import { type Span, type SpanKind, spanIdOf } from '../../core/traces/span.js';
import { spansOf } from '../../core/traces/spans-of-run.js';
import { type RecordedRun, shownRunsOf, type WorkflowFacts } from '../../core/traces/trace-source.js';
import type { Database } from '../../platform/storage/database.js';
import { RunScores } from '../live-evals/service.js';
import { SessionStatisticsStore } from './sessions/session-statistics-store.js';
import { type TraceRow, TraceStore } from './store.js';
import type { TracedRow } from './trace-body.js';

/** What the spans of a run are made with, beside its journal. */
export interface SpanMaking {
  readonly redaction: TraceRedaction;
  readonly prices: ModelPrices;
  /** What the workflow of a run is declared as. */
  readonly workflow: (run: Run) => Promise<WorkflowFacts | undefined>;
}

/** The traces of the runs of one database. */
export class DatabaseTraces {
  readonly store: TraceStore;
  readonly statistics: SessionStatisticsStore;
  readonly scores: RunScores;

  constructor(
    database: Database,
    private readonly journal: Pick<RunJournal, 'loadAll'>,
  ) {
    this.store = new TraceStore(database);
    this.statistics = new SessionStatisticsStore(database);
    this.scores = new RunScores(database);
  }

  /** The recorded runs with their spans, in the same order. Everything is read together, for all of them. */
  async traced(rows: readonly TraceRow[], making: SpanMaking): Promise<TracedRow[]> {
    if (rows.length === 0) return [];
    const recorded = byId(await this.journal.loadAll(rows.map(({ run_id }) => run_id)));
    const shown = [...recorded.values()].flatMap(({ steps }) => shownRunsOf(steps));
    const missing = [...new Set(shown)].filter((runId) => !recorded.has(runId));
    const earlier = missing.length === 0 ? new Map() : byId(await this.journal.loadAll(missing));
    const history = new Map([...earlier, ...recorded]);
    const traced: TracedRow[] = [];
    for (const row of rows) {
      const found = recorded.get(row.run_id);
      const spans = found === undefined ? [spanOfRow(row)] : await spansOfRun(found, history, making);
      traced.push({ row, spans: redactSpans(making.redaction, spans) });
    }
    return traced;
  }
}

async function spansOfRun(
  { run, steps }: RecordedRun,
  history: ReadonlyMap<string, RecordedRun>,
  { prices, workflow }: SpanMaking,
): Promise<Span[]> {
  const facts = run.kind === 'workflow' ? await workflow(run) : undefined;
  return spansOf({
    run,
    steps,
    history,
    prices,
    brief: true,
    ...(facts !== undefined && { workflow: facts }),
  });
}

function byId(runs: readonly RecordedRun[]): Map<string, RecordedRun> {
  return new Map(runs.map((recorded) => [recorded.run.runId, recorded]));
}

const kinds: Readonly<Record<RunKind, SpanKind>> = { agent: 'AGENT', team: 'TEAM', workflow: 'WORKFLOW' };

/** That it happened is all that is known of a run which was deleted with its session. */
function spanOfRow(row: TraceRow): Span {
  return {
    spanId: spanIdOf(row.run_id, ''),
    traceId: row.trace_id,
    parentSpanId: null,
    remoteParentId: null,
    name: row.name,
    kind: kinds[row.kind],
    status: row.status,
    statusMessage: null,
    startTime: row.start_time,
    endTime: row.status === 'UNSET' ? null : row.end_time,
    runId: row.run_id,
    stepKey: '',
    attributes: { 'agno.run.id': row.run_id, 'session.id': row.session_id },
  };
}
