import type { TraceDetail, TraceSpan } from '@runyard/client';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { useSearchState } from '../../data/search-state.js';
import { useCommands } from '../../shell/commands.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Link } from '../../ui/link.js';
import { PageHeader } from '../../ui/page-header.js';
import { AddToDataset } from './detail/add-to-dataset.js';
import { SpanPanel } from './detail/span-panel.js';
import { placed, tokensOf } from './detail/spans.js';
import { TraceFacts } from './detail/trace-facts.js';
import { Waterfall } from './detail/waterfall.js';
import { componentOf, shortName } from './trace-component.js';

const liveMs = 1_500;

export function TracePage() {
  const { client, address } = useConnection();
  const { traceId } = useParams({ from: '/traces/$traceId' });
  const query = useQuery({
    queryKey: ['trace', address, traceId],
    queryFn: async ({ signal }) => onlyTrace(await client.traces.get(traceId, {}, { signal })),
    // a trace in progress grows
    refetchInterval: ({ state: { data } }) => (data?.status === 'UNSET' ? liveMs : false),
  });
  return (
    <div className="w-full px-4 py-6 md:px-8">
      {query.data === undefined && <PageHeader title="Trace" parent={<Link to="/traces">Traces</Link>} />}
      <Loaded query={query}>{(trace) => <LoadedTrace trace={trace} />}</Loaded>
    </div>
  );
}

function LoadedTrace({ trace }: { readonly trace: TraceDetail }) {
  const may = useMay();
  const [search, change] = useSearchState();
  const [adding, setAdding] = useState(false);
  const panel = useRef<HTMLElement>(null);
  const spans = useMemo(() => placed(trace.tree), [trace.tree]);
  const selected = spans.find(({ span }) => span.id === search.span) ?? spans[0];
  const component = componentOf(trace);
  const { run_id: runId, session_id: sessionId } = trace;
  const canAdd = runId !== undefined && trace.status !== 'UNSET' && may('evals:write');
  useCommands(
    useMemo(
      () =>
        canAdd
          ? [
              {
                id: 'trace add',
                group: 'Trace',
                title: 'Add this trace to a dataset',
                run: () => setAdding(true),
              },
            ]
          : [],
      [canAdd],
    ),
  );
  return (
    <>
      <PageHeader
        title={shortName(trace.name)}
        parent={<Link to="/traces">Traces</Link>}
        description={<span className="line-clamp-2 [overflow-wrap:anywhere]">{trace.input}</span>}
        actions={
          <>
            {component && sessionId !== undefined && (
              <Link
                to="/chat/$kind/$componentId"
                params={{ kind: component.kind, componentId: component.id }}
                search={{ session: sessionId, run: runId }}
              >
                Chat
              </Link>
            )}
            {component && runId !== undefined && (
              <Link
                to="/runs/$kind/$componentId/$runId"
                params={{ kind: component.kind, componentId: component.id, runId }}
              >
                Run
              </Link>
            )}
            {sessionId !== undefined && (
              <Link
                to="/traces"
                search={{ filter: JSON.stringify({ op: 'EQ', key: 'session_id', value: sessionId }) }}
              >
                Session
              </Link>
            )}
            {canAdd && <Button onClick={() => setAdding(true)}>Add to dataset</Button>}
          </>
        }
      />
      <TraceFacts trace={trace} tokens={tokensOf(spans)} />
      {trace.scores && trace.scores.length > 0 && (
        <div className="flex flex-wrap gap-2 pb-4">
          {trace.scores.map(({ run_id, eval: name, scorer, score, passed, reason }) => (
            <Badge
              key={`${run_id} ${name} ${scorer}`}
              tone={passed === null ? 'neutral' : passed ? 'success' : 'danger'}
            >
              <span title={reason}>
                {name} · {scorer}: {score ?? (passed ? 'passed' : 'failed')}
              </span>
            </Badge>
          ))}
        </div>
      )}
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Waterfall
          spans={spans}
          selected={selected?.span.id}
          onSelect={(span) => change({ span })}
          onOpen={() => panel.current?.focus()}
        />
        {selected && (
          <SpanPanel key={selected.span.id} ref={panel} traceId={trace.trace_id} span={selected.span} />
        )}
      </div>
      {adding && runId !== undefined && (
        <AddToDataset trace={trace} runId={runId} spans={spans} onClose={() => setAdding(false)} />
      )}
    </>
  );
}

function onlyTrace(found: TraceDetail | TraceSpan): TraceDetail {
  if (!('tree' in found)) throw new Error('The service returned a span instead of the trace.');
  return found;
}
