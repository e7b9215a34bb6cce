import { StatusBadge } from '../../../ui/badge.js';
import { formatDuration } from '../../../ui/format/numbers.js';
import { isActive, type RunView } from '../run/run-view.js';
import type { DrawRun } from './draw-run.js';

/** What members of a team answered, side by side where there is space. */
export function Members({ runs, draw }: { readonly runs: readonly RunView[]; readonly draw: DrawRun }) {
  return (
    <section
      aria-label="Answers of members"
      className="my-2 grid grid-cols-[repeat(auto-fit,minmax(min(17rem,100%),1fr))] gap-2"
    >
      {runs.map((run) => (
        <Member key={run.runId} run={run} draw={draw} />
      ))}
    </section>
  );
}

function Member({ run, draw }: { readonly run: RunView; readonly draw: DrawRun }) {
  const { name, status, metrics, error } = run;
  return (
    <article aria-label={name} className="min-w-0 rounded-lg border border-line bg-surface">
      <header className="flex min-h-8 items-center gap-2 border-b border-line px-3 py-1">
        <h3 className="min-w-0 flex-1 truncate font-medium">{name}</h3>
        {metrics?.seconds !== undefined && (
          <span className="text-xs text-muted">{formatDuration(metrics.seconds * 1_000)}</span>
        )}
        {status !== 'completed' && <StatusBadge status={status} />}
      </header>
      <div tabIndex={0} className="max-h-96 overflow-y-auto px-3 py-2">
        {draw(run)}
        {error && <p className="text-danger [overflow-wrap:anywhere]">{error.text}</p>}
        {run.parts.length === 0 && isActive(status) && <p className="text-muted">Working …</p>}
      </div>
    </article>
  );
}
