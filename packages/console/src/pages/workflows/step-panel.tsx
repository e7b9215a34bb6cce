import type { WorkflowStep } from '@runyard/client';
import { StatusBadge } from '../../ui/badge.js';
import { JsonView } from '../../ui/content/json-view.js';
import { formatDuration } from '../../ui/format/numbers.js';
import { KeyValue } from '../../ui/key-value.js';
import { Link } from '../../ui/link.js';
import type { Execution } from './executions.js';
import { settingOf, stepInWords } from './step-words.js';

const settings: readonly (readonly [name: string, label: string])[] = [
  ['condition', 'Condition'],
  ['selector', 'Selector'],
  ['end_condition', 'Ends when'],
  ['max_iterations', 'Most iterations'],
  ['forward_output', 'Forwards the output'],
  ['max_parallel', 'At once'],
  ['concurrency', 'At once'],
  ['max_retries', 'Retries'],
  ['on_error', 'On failure'],
  ['timeout_ms', 'Time-out (ms)'],
];

/** A node of the graph: its settings, and what each of its executions got and gave. */
export function StepPanel({
  step,
  executions,
}: {
  readonly step: WorkflowStep;
  readonly executions: readonly Execution[];
}) {
  const many = executions.length > 1;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <header className="min-w-0">
        <h2 className="font-semibold [overflow-wrap:anywhere]">{step.name}</h2>
        <p className="text-xs text-muted [overflow-wrap:anywhere]">{stepInWords(step)}</p>
        {step.description && <p className="pt-1">{step.description}</p>}
      </header>
      {executions.map((execution, at) => (
        <details key={execution.key} open={at === executions.length - 1} className="min-w-0">
          <summary className="flex items-center gap-2 pb-2">
            {many && <span className="font-medium">No. {at + 1}</span>}
            <StatusBadge status={execution.status} />
            <span className="text-xs text-muted">{durationOf(execution)}</span>
          </summary>
          <div className="flex flex-col gap-3">
            {execution.taken.length > 0 && (
              <p>
                Took: <strong>{execution.taken.join(', ')}</strong>
              </p>
            )}
            {execution.error && (
              <p className="rounded-md bg-danger-soft p-3 whitespace-pre-wrap text-danger [overflow-wrap:anywhere]">
                {execution.error}
              </p>
            )}
            <Text title="Input" text={execution.input} />
            <Text title="Output" text={execution.output} />
          </div>
        </details>
      ))}
      <KeyValue
        entries={[
          ...settings.map(([name, label]) => [label, settingOf(step, name)] as const),
          [
            'Workflow',
            step.workflow_id && (
              <Link to="/workflows/$workflowId" params={{ workflowId: step.workflow_id }}>
                {step.workflow_id}
              </Link>
            ),
          ],
        ]}
      />
      {step.review && (
        <div>
          <h3 className="pb-1.5 text-xs font-medium text-muted">What a person reviews</h3>
          <JsonView value={step.review} />
        </div>
      )}
    </div>
  );
}

function Text({ title, text }: { readonly title: string; readonly text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <div className="min-w-0">
      <h3 className="pb-1 text-xs font-medium text-muted">{title}</h3>
      <Value text={text} />
    </div>
  );
}

function Value({ text }: { readonly text: string }) {
  const value = structured(text);
  if (value !== undefined) return <JsonView value={value} depth={2} />;
  return (
    <p
      tabIndex={0}
      className="max-h-72 overflow-auto rounded-md border border-line bg-sunken p-2 whitespace-pre-wrap [overflow-wrap:anywhere]"
    >
      {text}
    </p>
  );
}

function structured(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function durationOf({ startedAt, endedAt }: Execution): string {
  return startedAt === undefined || endedAt === undefined ? '' : formatDuration(endedAt - startedAt);
}
