import type { TraceDetail, TraceSpan } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import type { Ref } from 'react';
import { useConnection } from '../../../connection/use-connection.js';
import { StatusBadge } from '../../../ui/badge.js';
import { JsonView } from '../../../ui/content/json-view.js';
import { formatCount } from '../../../ui/format/numbers.js';
import { Time } from '../../../ui/format/time.js';
import { KeyValue } from '../../../ui/key-value.js';
import { ErrorLine } from '../../../ui/states.js';
import { shortName, spaced } from '../trace-component.js';
import { Messages, messagesIn, Value } from './messages.js';
import { numberIn, textIn } from './spans.js';
import { kindInWords } from './waterfall.js';

export interface SpanPanelProps {
  readonly traceId: string;
  /** As the tree has it: long values may be cut. */
  readonly span: TraceSpan;
  readonly ref?: Ref<HTMLElement>;
}

/** What one span did, in full. */
export function SpanPanel({ traceId, span, ref }: SpanPanelProps) {
  const { client, address } = useConnection();
  const full = useQuery({
    // a span in progress changes
    queryKey: ['span', address, traceId, span.id, span.status, span.end_time],
    queryFn: async ({ signal }) =>
      onlySpan(await client.traces.get(traceId, { span_id: span.id }, { signal })),
    staleTime: span.status === 'UNSET' ? 0 : Number.POSITIVE_INFINITY,
  });
  const found = full.data ?? span;
  const { type, error, input, output, metadata } = found;
  const extra = Object.fromEntries(Object.entries(metadata ?? {}).filter(([key]) => !known.has(key)));
  return (
    <section
      ref={ref}
      tabIndex={-1}
      aria-label="Span"
      className="flex min-w-0 flex-col gap-4 rounded-lg border border-line bg-surface p-4 outline-none focus-visible:outline-2"
    >
      <header className="flex min-w-0 items-center gap-2">
        <h2 className="min-w-0 flex-1 font-semibold [overflow-wrap:anywhere]">{shortName(span.name)}</h2>
        <StatusBadge status={span.status} />
      </header>
      <KeyValue
        entries={[
          ['Kind', [kindInWords(found), found.step_type].filter(Boolean).join(' · ')],
          ['Model', textIn(found, 'model')],
          ['Purpose', textIn(found, 'purpose')],
          ['Tokens', tokens(found)],
          ['Duration', spaced(found.duration)],
          ['Started', <Time key="start" at={found.start_time} style="absolute" />],
        ]}
      />
      {full.error && <ErrorLine error={full.error} />}
      {error && (
        <Part title="Error">
          <p className="rounded-md bg-danger-soft p-3 whitespace-pre-wrap text-danger [overflow-wrap:anywhere]">
            {error}
          </p>
        </Part>
      )}
      <InAndOut type={type} input={input} output={output} />
      {Object.keys(extra).length > 0 && (
        <Part title="Metadata">
          <JsonView value={extra} depth={1} />
        </Part>
      )}
    </section>
  );
}

/** Shown above, or the same for all spans of the trace. */
const known = new Set([
  'model',
  'purpose',
  'input_tokens',
  'output_tokens',
  'total_input_tokens',
  'total_output_tokens',
  'tool_name',
  'parameters',
  'session_id',
  'user_id',
]);

function InAndOut({
  type,
  input,
  output,
}: {
  readonly type: string;
  readonly input: string | undefined;
  readonly output: string | undefined;
}) {
  const isCall = type === 'LLM';
  const isTool = type === 'TOOL';
  return (
    <>
      {input !== undefined && (
        <Part title={isCall ? 'Messages' : isTool ? 'Arguments' : 'Input'}>
          <Content text={input} isCall={isCall} />
        </Part>
      )}
      {output !== undefined && (
        <Part title={isCall ? 'Answer' : isTool ? 'Result' : 'Output'}>
          <Content text={output} isCall={isCall} />
        </Part>
      )}
    </>
  );
}

function Content({ text, isCall }: { readonly text: string; readonly isCall: boolean }) {
  const messages = isCall ? messagesIn(text) : undefined;
  return messages ? <Messages messages={messages} /> : <Value value={text} />;
}

function Part({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <div className="min-w-0">
      <h3 className="pb-1.5 text-xs font-medium text-muted">{title}</h3>
      {children}
    </div>
  );
}

function tokens(span: TraceSpan): string | undefined {
  const input = numberIn(span, 'input_tokens') ?? numberIn(span, 'total_input_tokens');
  const output = numberIn(span, 'output_tokens') ?? numberIn(span, 'total_output_tokens');
  if (input === undefined && output === undefined) return undefined;
  return `${formatCount(input)} in · ${formatCount(output)} out`;
}

function onlySpan(found: TraceDetail | TraceSpan): TraceSpan {
  if ('tree' in found) throw new Error('The service returned the trace instead of the span.');
  return found;
}
