import type { MetricsList } from '@runyard/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import RefreshCw from 'lucide-react/icons/refresh-cw';
import { useCallback, useMemo, useState } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { useSearchState } from '../../data/search-state.js';
import { useCommands } from '../../shell/commands.js';
import { Button } from '../../ui/button.js';
import { Time } from '../../ui/format/time.js';
import { Input, Select } from '../../ui/forms/inputs.js';
import { toast } from '../../ui/overlay/toasts.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { Tabs } from '../../ui/tabs.js';
import { daysIn, lastDays, type Range } from './days.js';
import { ByComponent } from './tables/by-component.js';
import { ByDay } from './tables/by-day.js';
import { ByModel } from './tables/by-model.js';

const ranges = ['7', '30', '90'];
const pollMs = 500;

export function MetricsPage() {
  const { client, address } = useConnection();
  const may = useMay();
  const queries = useQueryClient();
  const [search, change] = useSearchState();
  const [busy, setBusy] = useState(false);
  const range = rangeIn(search);
  const { from, to } = range;
  const metrics = useQuery({
    queryKey: ['metrics', address, from, to],
    queryFn: ({ signal }) => client.metrics.list({ starting_date: from, ending_date: to }, { signal }),
  });
  const refresh = useCallback(async () => {
    setBusy(true);
    try {
      await client.metrics.refresh({ background: true });
      let state = await client.metrics.getRefreshStatus();
      while (state.status === 'running') {
        await new Promise((resolve) => setTimeout(resolve, pollMs));
        state = await client.metrics.getRefreshStatus();
      }
      if (state.status === 'failed') throw new Error(state.error ?? 'The count failed.');
      await queries.invalidateQueries({ queryKey: ['metrics'] });
      await queries.invalidateQueries({ queryKey: ['component-use'] });
    } catch (error) {
      toast({ title: error instanceof Error ? error.message : String(error), tone: 'danger' });
    } finally {
      setBusy(false);
    }
  }, [client, queries]);
  useCommands(
    useMemo(
      () => [
        ...ranges.map((days) => ({
          id: `metrics ${days}`,
          group: 'Metrics',
          title: `Show the last ${days} days`,
          run: () => change({ range: days }),
        })),
        { id: 'metrics refresh', group: 'Metrics', title: 'Count again', run: () => void refresh() },
      ],
      [change, refresh],
    ),
  );
  return (
    <Page>
      <PageHeader
        title="Metrics"
        description="Runs, users, tokens and costs. Days are in UTC."
        actions={
          <>
            <div className="w-40">
              <Select
                aria-label="Range"
                value={search.range ?? '30'}
                options={[
                  ...ranges.map((days) => ({ value: days, label: `Last ${days} days` })),
                  { value: 'custom', label: 'From … to …' },
                ]}
                onChange={(event) => change({ range: event.target.value, from, to })}
              />
            </div>
            {may('metrics:write') && (
              <Button busy={busy} onClick={() => void refresh()}>
                {!busy && <RefreshCw aria-hidden className="size-4" />}
                Count again
              </Button>
            )}
          </>
        }
      />
      {search.range === 'custom' && (
        <div className="flex flex-wrap items-center gap-2 pb-3">
          <Input
            type="date"
            aria-label="First day"
            className="max-w-40"
            max={to}
            value={from}
            onChange={(event) => event.target.value && change({ from: event.target.value })}
          />
          <span className="text-muted">to</span>
          <Input
            type="date"
            aria-label="Last day"
            className="max-w-40"
            min={from}
            value={to}
            onChange={(event) => event.target.value && change({ to: event.target.value })}
          />
        </div>
      )}
      <Loaded query={metrics}>
        {(found) => <Counted found={found} range={range} tab={search.by} onTab={(by) => change({ by })} />}
      </Loaded>
    </Page>
  );
}

interface CountedProps {
  readonly found: MetricsList;
  readonly range: Range;
  readonly tab: string | undefined;
  onTab(tab: string): void;
}

function Counted({ found, range, tab, onTab }: CountedProps) {
  const { from, to } = range;
  const days = useMemo(() => daysIn({ from, to }, found.metrics), [from, to, found.metrics]);
  return (
    <>
      <Tabs
        label="Metrics by"
        value={['day', 'model', 'component'].find((one) => one === tab) ?? 'day'}
        onChange={onTab}
        tabs={[
          { id: 'day', label: 'By day', content: <ByDay days={days} /> },
          { id: 'model', label: 'By model', content: <ByModel metrics={found.metrics} /> },
          { id: 'component', label: 'By component', content: <ByComponent range={range} /> },
        ]}
      />
      <p className="pt-3 text-xs text-muted">
        Counted <Time at={found.updated_at} />
      </p>
    </>
  );
}

function rangeIn({ range = '30', from, to }: Readonly<Record<string, string | undefined>>): Range {
  if (range !== 'custom') return lastDays(ranges.includes(range) ? Number(range) : 30);
  const isDate = (text: string | undefined): text is string =>
    /^\d{4}-\d\d-\d\d$/.test(text ?? '') && !Number.isNaN(Date.parse(text ?? ''));
  const fallback = lastDays(30);
  return { from: isDate(from) ? from : fallback.from, to: isDate(to) ? to : fallback.to };
}
