import { useQuery } from '@tanstack/react-query';
import ListFilter from 'lucide-react/icons/list-filter';
import RefreshCw from 'lucide-react/icons/refresh-cw';
import { useCallback, useMemo, useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { useSearchState } from '../../data/search-state.js';
import { useCommands } from '../../shell/commands.js';
import { Button, IconButton } from '../../ui/button.js';
import { Switch } from '../../ui/forms/toggles.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { ErrorLine } from '../../ui/states.js';
import { Tabs } from '../../ui/tabs.js';
import { type Expression, expressionInWords, readExpression } from './filter/expression.js';
import { FilterBuilder } from './filter/filter-builder.js';
import { SessionTotals } from './session-totals.js';
import { TraceList } from './trace-list.js';

const liveMs = 5_000;

export function TracesPage() {
  const { client, address } = useConnection();
  const [search, change] = useSearchState();
  const [building, setBuilding] = useState(false);
  const [live, setLive] = useState(true);
  const [loads, setLoads] = useState(0);
  const { expression, fault } = useMemo(() => filterIn(search.filter), [search.filter]);
  const schema = useQuery({
    queryKey: ['trace-filter-schema', address],
    queryFn: ({ signal }) => client.traces.getFilterSchema({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const apply = useCallback(
    (next: Expression | undefined) => change({ filter: next && JSON.stringify(next) }),
    [change],
  );
  useCommands(
    useMemo(
      () => [
        { id: 'traces filter', group: 'Traces', title: 'Filter the traces', run: () => setBuilding(true) },
        { id: 'traces all', group: 'Traces', title: 'Show all traces', run: () => apply(undefined) },
        {
          id: 'traces failed',
          group: 'Traces',
          title: 'Show failed traces',
          run: () => apply({ op: 'EQ', key: 'status', value: 'ERROR' }),
        },
      ],
      [apply],
    ),
  );
  const list = { expression, refetchMs: live ? liveMs : undefined, loads };
  return (
    <Page>
      <PageHeader
        title="Traces"
        description="How each run spent its time: model calls, tools and members."
        actions={
          <>
            <Switch label="Live" checked={live} onChange={setLive} />
            <IconButton label="Load again" onClick={() => setLoads((count) => count + 1)}>
              <RefreshCw aria-hidden className="size-4" />
            </IconButton>
            <Button aria-expanded={building} onClick={() => setBuilding(!building)}>
              <ListFilter aria-hidden className="size-4" />
              Filter
            </Button>
          </>
        }
      />
      {fault && (
        <div className="pb-3">
          <ErrorLine error={fault} />
        </div>
      )}
      {building && schema.error && <ErrorLine error={schema.error} />}
      {building && schema.data && (
        <FilterBuilder
          // what the address says replaces what is being edited
          key={search.filter ?? ''}
          fields={schema.data.fields}
          expression={expression}
          onApply={apply}
        />
      )}
      {!building && expression && (
        <p className="flex flex-wrap items-center gap-2 pb-3 text-xs">
          <span className="text-muted">Filter</span>
          <code className="min-w-0 [overflow-wrap:anywhere]">{expressionInWords(expression)}</code>
          <Button size="small" variant="ghost" onClick={() => apply(undefined)}>
            Clear
          </Button>
        </p>
      )}
      <Tabs
        label="What is listed"
        value={search.by === 'session' ? 'session' : 'run'}
        onChange={(by) => change({ by: by === 'session' ? by : undefined })}
        tabs={[
          { id: 'run', label: 'Traces', content: <TraceList {...list} /> },
          { id: 'session', label: 'By session', content: <SessionTotals {...list} /> },
        ]}
      />
    </Page>
  );
}

function filterIn(text: string | undefined): { expression?: Expression; fault?: Error } {
  if (!text) return {};
  try {
    return { expression: readExpression(text) };
  } catch (error) {
    return { fault: error instanceof Error ? error : new Error(String(error)) };
  }
}
