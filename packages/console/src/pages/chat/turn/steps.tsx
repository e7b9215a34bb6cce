import Check from 'lucide-react/icons/check';
import CirclePause from 'lucide-react/icons/circle-pause';
import CircleX from 'lucide-react/icons/circle-x';
import Minus from 'lucide-react/icons/minus';
import { memo } from 'react';
import { Badge } from '../../../ui/badge.js';
import { Markdown } from '../../../ui/content/markdown.js';
import { formatDuration } from '../../../ui/format/numbers.js';
import { Spinner } from '../../../ui/spinner.js';
import type { StepView } from '../run/run-view.js';
import { Disclosure } from './disclosure.js';
import type { DrawRun } from './draw-run.js';
import { ValueView } from './long-text.js';

/** The steps of a workflow with their state. A step in progress, and one that failed, is open. */
export function Steps({ steps, draw }: { readonly steps: readonly StepView[]; readonly draw: DrawRun }) {
  return (
    <ol aria-label="Steps" className="flex flex-col">
      {steps.map((step) => (
        <Step key={step.id} step={step} draw={draw} />
      ))}
    </ol>
  );
}

const words: Readonly<Record<StepView['status'], string>> = {
  running: 'in progress',
  completed: 'completed',
  error: 'failed',
  paused: 'waits',
  skipped: 'skipped',
};

const Step = memo(({ step, draw }: { readonly step: StepView; readonly draw: DrawRun }) => {
  const { name, type, status, detail, seconds, steps, runs, output, error } = step;
  return (
    <li>
      <Disclosure
        isOpen={status === 'running' || status === 'error' || (status === 'paused' && steps.length > 0)}
        summary={
          <>
            <StateIcon status={status} />
            <span className="min-w-0 truncate font-medium">{name}</span>
            {type !== 'Step' && <Badge>{type.toLowerCase()}</Badge>}
            <span className="min-w-0 flex-1 truncate text-xs text-muted">
              {[status === 'completed' ? undefined : words[status], detail].filter(Boolean).join(' · ')}
            </span>
            {seconds !== undefined && (
              <span className="shrink-0 text-xs text-muted">{formatDuration(seconds * 1_000)}</span>
            )}
          </>
        }
      >
        {() => (
          <div className="flex flex-col gap-1 py-1">
            {steps.length > 0 && <Steps steps={steps} draw={draw} />}
            {runs.map(draw)}
            {error && <p className="text-danger [overflow-wrap:anywhere]">{error}</p>}
            {steps.length === 0 && runs.length === 0 && <Output value={output} />}
          </div>
        )}
      </Disclosure>
    </li>
  );
});

function Output({ value }: { readonly value: unknown }) {
  if (value === undefined || value === null || value === '')
    return <p className="text-muted">No output yet</p>;
  return typeof value === 'string' ? <Markdown text={value} /> : <ValueView value={value} />;
}

const icons = { completed: Check, error: CircleX, paused: CirclePause, skipped: Minus };
const colours = {
  completed: 'text-success',
  error: 'text-danger',
  paused: 'text-warning',
  skipped: 'text-muted',
};

function StateIcon({ status }: { readonly status: StepView['status'] }) {
  if (status === 'running')
    return (
      <span className="shrink-0 text-accent-text">
        <Spinner />
      </span>
    );
  const Icon = icons[status];
  return <Icon aria-hidden className={`size-3.5 shrink-0 ${colours[status]}`} />;
}
