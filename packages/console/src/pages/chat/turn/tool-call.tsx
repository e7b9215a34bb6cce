import Check from 'lucide-react/icons/check';
import CircleX from 'lucide-react/icons/circle-x';
import Clock from 'lucide-react/icons/clock';
import { JsonView } from '../../../ui/content/json-view.js';
import { formatDuration } from '../../../ui/format/numbers.js';
import { Spinner } from '../../../ui/spinner.js';
import type { Part } from '../run/run-view.js';
import { Disclosure } from './disclosure.js';
import { ValueView } from './long-text.js';
import { MediaGallery } from './media.js';

type ToolPart = Extract<Part, { type: 'tool' }>;

/** A call of a tool in one line; opened, with its arguments and its result. */
export function ToolCall({ part, runId }: { readonly part: ToolPart; readonly runId: string }) {
  const { call, error, media, isLive } = part;
  const args = call.tool_args ?? {};
  const hasFailed = error !== undefined || call.tool_call_error === true;
  return (
    <Disclosure
      summary={
        <>
          <State
            isLive={isLive}
            hasFailed={hasFailed}
            isDone={call.metrics !== null || call.result !== null}
          />
          <span className="shrink-0 font-mono text-[0.8125rem] font-medium">{call.tool_name}</span>
          <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted">{inShort(args)}</span>
          {call.metrics && (
            <span className="shrink-0 text-xs text-muted">
              {formatDuration(call.metrics.duration * 1_000)}
            </span>
          )}
        </>
      }
    >
      {() => (
        <div className="flex flex-col gap-2 py-1">
          <Labelled label="Arguments">
            {Object.keys(args).length > 0 ? <JsonView value={args} /> : <p className="text-muted">None</p>}
          </Labelled>
          {hasFailed && (
            <Labelled label="Error">
              <p className="whitespace-pre-wrap text-danger [overflow-wrap:anywhere]">
                {error ?? call.result}
              </p>
            </Labelled>
          )}
          {!hasFailed && call.result !== null && (
            <Labelled label="Result">
              <ValueView value={call.result} />
            </Labelled>
          )}
          {call.confirmed !== null && (
            <p className="text-xs text-muted">
              {call.confirmed ? 'Confirmed by a person.' : 'Rejected by a person.'}{' '}
              {call.confirmation_note && `“${call.confirmation_note}”`}
            </p>
          )}
          {media && <MediaGallery media={media} runId={runId} side="output" />}
        </div>
      )}
    </Disclosure>
  );
}

function State({
  isLive,
  hasFailed,
  isDone,
}: {
  readonly isLive: boolean;
  readonly hasFailed: boolean;
  readonly isDone: boolean;
}) {
  if (isLive)
    return (
      <span className="shrink-0 text-accent-text">
        <Spinner />
        <span className="sr-only">Calling tool </span>
      </span>
    );
  const Icon = hasFailed ? CircleX : isDone ? Check : Clock;
  return (
    <>
      <Icon aria-hidden className={`size-3.5 shrink-0 ${hasFailed ? 'text-danger' : 'text-muted'}`} />
      <span className="sr-only">
        {hasFailed ? 'Failed tool call ' : isDone ? 'Tool call ' : 'Waiting tool call '}
      </span>
    </>
  );
}

function Labelled({ label, children }: { readonly label: string; readonly children: React.ReactNode }) {
  return (
    <div className="min-w-0">
      <p className="mb-1 text-xs font-medium text-muted">{label}</p>
      {children}
    </div>
  );
}

const shortLength = 120;

function inShort(args: object): string {
  const text = Object.entries(args)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
  return text.slice(0, shortLength);
}
