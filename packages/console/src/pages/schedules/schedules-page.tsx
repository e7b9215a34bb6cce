import type { Schedule } from '@runyard/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import Plus from 'lucide-react/icons/plus';
import { useMemo, useState } from 'react';
import { useClient, useMay } from '../../connection/use-connection.js';
import { usePaged } from '../../data/paged.js';
import { useSearchState } from '../../data/search-state.js';
import { useCommands } from '../../shell/commands.js';
import { Badge, StatusBadge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Time } from '../../ui/format/time.js';
import { FilterBar } from '../../ui/forms/filter-bar.js';
import { Select } from '../../ui/forms/inputs.js';
import { Switch } from '../../ui/forms/toggles.js';
import { toast } from '../../ui/overlay/toasts.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { EmptyState, explained } from '../../ui/states.js';
import type { Column } from '../../ui/table/data-table.js';
import { PagedTable } from '../../ui/table/paged-table.js';
import { cronInWords, tickText } from './cron.js';
import { ScheduleDialog } from './schedule-dialog.js';
import { targetOf } from './schedule-target.js';

const refreshMs = 15_000;

const states = [
  { value: '', label: 'All' },
  { value: 'true', label: 'Enabled' },
  { value: 'false', label: 'Disabled' },
];

export function SchedulesPage() {
  const client = useClient();
  const mayWrite = useMay()('schedules:write');
  const [search, change] = useSearchState();
  const [creating, setCreating] = useState(false);
  const filters = search.enabled ? { enabled: search.enabled === 'true' } : {};
  const list = usePaged<Schedule>({
    key: ['schedules', filters],
    load: (page, signal) => client.schedules.list({ ...page, ...filters }, { signal }),
    refetchMs: refreshMs,
  });
  const commands = useMemo(
    () =>
      mayWrite
        ? [{ id: 'schedule-new', title: 'New schedule', group: 'Schedules', run: () => setCreating(true) }]
        : [],
    [mayWrite],
  );
  useCommands(commands);
  return (
    <Page>
      <PageHeader
        title="Schedules"
        description="What the service does at given times. Times are shown in your time zone."
        actions={
          mayWrite && (
            <Button variant="primary" onClick={() => setCreating(true)}>
              <Plus aria-hidden className="size-4" />
              New schedule
            </Button>
          )
        }
      />
      <FilterBar>
        <Select
          aria-label="State"
          className="max-w-40"
          value={search.enabled ?? ''}
          options={states}
          onChange={(event) => change({ enabled: event.target.value || undefined })}
        />
      </FilterBar>
      <PagedTable
        label="Schedules"
        columns={mayWrite ? [...columns, toggle] : columns}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/schedules/$scheduleId', params: { scheduleId: id } })}
        empty={
          <EmptyState title="No schedules yet">
            A schedule runs an agent, a team or a workflow, or calls another route of the service.
          </EmptyState>
        }
      />
      {creating && <ScheduleDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}

const columns: readonly Column<Schedule>[] = [
  {
    id: 'name',
    header: 'Name',
    grow: true,
    cell: (schedule) => (
      <>
        <span className="[overflow-wrap:anywhere]">{schedule.name}</span>{' '}
        {schedule.source === 'code' && <Badge>code</Badge>}
        <span className="block text-xs font-normal text-muted [overflow-wrap:anywhere]">
          {targetText(schedule)}
        </span>
      </>
    ),
  },
  {
    id: 'when',
    header: 'When',
    hideBelow: 'md',
    cell: ({ cron_expr, timezone }) => (
      <>
        {cronInWords(cron_expr)}
        <span className="block text-xs text-muted">{timezone}</span>
      </>
    ),
  },
  {
    id: 'next',
    header: 'Next',
    cell: ({ enabled, next_run_at, disabled_reason }) =>
      enabled ? (
        <>
          <Time at={next_run_at} />
          {next_run_at !== null && (
            <span className="block text-xs text-muted max-sm:hidden">
              {tickText(new Date(next_run_at * 1_000))}
            </span>
          )}
        </>
      ) : (
        <span title={disabled_reason ?? undefined}>
          <StatusBadge status="disabled" />
        </span>
      ),
  },
];

const toggle: Column<Schedule> = {
  id: 'enabled',
  header: 'Enabled',
  cell: (schedule) => <EnabledSwitch schedule={schedule} />,
};

function EnabledSwitch({ schedule: { id, name, enabled } }: { readonly schedule: Schedule }) {
  const client = useClient();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (on: boolean) => (on ? client.schedules.enable(id) : client.schedules.disable(id)),
    onSettled: () => queries.invalidateQueries({ queryKey: ['schedules'] }),
    onError: (error) => toast({ title: explained(error).detail, tone: 'danger' }),
  });
  return (
    // above the link that covers the row
    <div className="relative z-10">
      <Switch
        label={<span className="sr-only">{name} is enabled</span>}
        checked={change.isPending ? change.variables : enabled}
        onChange={(on) => change.mutate(on)}
      />
    </div>
  );
}

function targetText(schedule: Schedule): string {
  const target = targetOf(schedule);
  return target ? `runs the ${target.kind} ${target.id}` : `${schedule.method} ${schedule.endpoint}`;
}
