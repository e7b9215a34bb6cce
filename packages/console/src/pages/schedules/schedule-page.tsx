import type { Schedule } from '@runyard/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import EllipsisVertical from 'lucide-react/icons/ellipsis-vertical';
import Play from 'lucide-react/icons/play';
import { useState } from 'react';
import { useConnection, useMay } from '../../connection/use-connection.js';
import { Loaded } from '../../data/loaded.js';
import { Badge, StatusBadge } from '../../ui/badge.js';
import { Button, IconButton } from '../../ui/button.js';
import { JsonView } from '../../ui/content/json-view.js';
import { Time } from '../../ui/format/time.js';
import { KeyValue } from '../../ui/key-value.js';
import { Link } from '../../ui/link.js';
import { ConfirmDialog } from '../../ui/overlay/confirm-dialog.js';
import { Menu } from '../../ui/overlay/menu.js';
import { toast } from '../../ui/overlay/toasts.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { Panel } from '../../ui/panel.js';
import { explained } from '../../ui/states.js';
import { cronInWords } from './cron.js';
import { CronPreview } from './cron-preview.js';
import { ExecutionsTable } from './executions-table.js';
import { ScheduleDialog } from './schedule-dialog.js';
import { targetOf } from './schedule-target.js';

const refreshMs = 10_000;

export function SchedulePage() {
  const { client, address } = useConnection();
  const { scheduleId } = useParams({ from: '/schedules/$scheduleId' });
  const query = useQuery({
    queryKey: ['schedule', address, scheduleId],
    queryFn: ({ signal }) => client.schedules.get(scheduleId, { signal }),
    refetchInterval: refreshMs,
  });
  return (
    <Page>
      <Loaded
        query={query}
        header={<PageHeader title="Schedule" parent={<Link to="/schedules">Schedules</Link>} />}
      >
        {(schedule) => <Shown schedule={schedule} />}
      </Loaded>
    </Page>
  );
}

function Shown({ schedule }: { readonly schedule: Schedule }) {
  const target = targetOf(schedule);
  const { payload } = schedule;
  return (
    <>
      <PageHeader
        title={schedule.name}
        description={schedule.description}
        parent={<Link to="/schedules">Schedules</Link>}
        actions={<Actions schedule={schedule} />}
      />
      <div className="flex flex-col gap-4">
        {schedule.disabled_reason && (
          <p role="status" className="rounded-lg bg-warning-soft px-4 py-2 text-warning">
            The service disabled it: {schedule.disabled_reason}
          </p>
        )}
        <Panel>
          <KeyValue
            entries={[
              [
                'State',
                <span key="state" className="flex gap-2">
                  <StatusBadge status={schedule.enabled ? 'enabled' : 'disabled'} />
                  {schedule.source === 'code' && <Badge>defined in the code</Badge>}
                </span>,
              ],
              [
                'When',
                <span key="when">
                  {cronInWords(schedule.cron_expr)}, {schedule.timezone}{' '}
                  <code className="text-xs text-muted">{schedule.cron_expr}</code>
                </span>,
              ],
              [
                'Next',
                schedule.enabled ? <Time key="next" at={schedule.next_run_at} style="absolute" /> : undefined,
              ],
              [
                'Runs',
                target ? (
                  <Link
                    key="target"
                    to="/chat/$kind/$componentId"
                    params={{ kind: target.kind, componentId: target.id }}
                  >
                    {target.id} ({target.kind})
                  </Link>
                ) : (
                  <code key="endpoint">
                    {schedule.method} {schedule.endpoint}
                  </code>
                ),
              ],
              ['Message', typeof payload?.message === 'string' ? payload.message : undefined],
              ['With the rights of', schedule.created_by],
            ]}
          />
          {schedule.enabled && (
            <div className="pt-3">
              <CronPreview cron={schedule.cron_expr} timezone={schedule.timezone} />
            </div>
          )}
          {payload !== null && Object.keys(payload).some((key) => key !== 'message') && (
            <details className="pt-3">
              <summary className="text-xs font-medium text-accent-text">All fields of the request</summary>
              <div className="pt-2">
                <JsonView value={payload} />
              </div>
            </details>
          )}
        </Panel>
        <ExecutionsTable schedule={schedule} />
      </div>
    </>
  );
}

function Actions({ schedule }: { readonly schedule: Schedule }) {
  const { id, name, enabled, source } = schedule;
  const { client } = useConnection();
  const may = useMay();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [open, setOpen] = useState<'edit' | 'delete'>();
  const reload = () =>
    Promise.all(
      ['schedule', 'schedules', 'executions'].map((key) => queries.invalidateQueries({ queryKey: [key] })),
    );
  const failed = (error: unknown) => toast({ title: explained(error).detail, tone: 'danger' });
  const trigger = useMutation({
    mutationFn: () => client.schedules.trigger(id),
    onSuccess: ({ status }) => toast({ title: `Executed: ${status}.` }),
    onError: failed,
    onSettled: reload,
  });
  const toggle = useMutation({
    mutationFn: () => (enabled ? client.schedules.disable(id) : client.schedules.enable(id)),
    onError: failed,
    onSettled: reload,
  });
  const mayWrite = may('schedules:write');
  const items = [
    ...(mayWrite && source !== 'code' ? [{ label: 'Edit…', onSelect: () => setOpen('edit') }] : []),
    ...(may('schedules:delete') && source !== 'code'
      ? [{ label: 'Delete…', destructive: true, onSelect: () => setOpen('delete') }]
      : []),
  ];
  return (
    <>
      {mayWrite && (
        <>
          <Button busy={toggle.isPending} onClick={() => toggle.mutate()}>
            {enabled ? 'Disable' : 'Enable'}
          </Button>
          <Button
            variant="primary"
            busy={trigger.isPending}
            disabled={!enabled}
            onClick={() => trigger.mutate()}
          >
            <Play aria-hidden className="size-3.5" />
            Run now
          </Button>
        </>
      )}
      {items.length > 0 && (
        <Menu items={items}>
          <IconButton label="Actions" variant="secondary">
            <EllipsisVertical aria-hidden className="size-4" />
          </IconButton>
        </Menu>
      )}
      {open === 'edit' && <ScheduleDialog schedule={schedule} onClose={() => setOpen(undefined)} />}
      <ConfirmDialog
        open={open === 'delete'}
        onClose={() => setOpen(undefined)}
        title={`Delete ${name}?`}
        action="Delete"
        destructive
        onConfirm={async () => {
          await client.schedules.delete(id);
          await queries.invalidateQueries({ queryKey: ['schedules'] });
          await navigate({ to: '/schedules' });
        }}
      >
        It is deleted with its history. The runs that it started stay. This cannot be undone.
      </ConfirmDialog>
    </>
  );
}
