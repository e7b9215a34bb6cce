import type { Kind, Schedule, ScheduleCreate } from '@runyard/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { useConnection } from '../../connection/use-connection.js';
import { useComponents } from '../../data/components.js';
import { Field } from '../../ui/forms/field.js';
import { CodeArea, Input, Select, Textarea } from '../../ui/forms/inputs.js';
import { jsonFault, jsonText, parseJsonObject } from '../../ui/forms/json-text.js';
import { FormDialog } from '../../ui/overlay/form-dialog.js';
import { readersZone, zones } from './cron.js';
import { CronPreview } from './cron-preview.js';
import { ExecutionFields, type ExecutionTexts, executionOf, executionTexts } from './execution-fields.js';
import { endpointOf, targetOf } from './schedule-target.js';

const route = 'route';

/** Creates a schedule, or changes one. */
export function ScheduleDialog({ schedule, onClose }: { readonly schedule?: Schedule; onClose(): void }) {
  const zoneList = useId();
  const { client } = useConnection();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { components } = useComponents();
  const target = schedule && targetOf(schedule);
  const { message: given, ...otherPayload } = schedule?.payload ?? {};
  const [name, setName] = useState(schedule?.name ?? '');
  const [description, setDescription] = useState(schedule?.description ?? '');
  const [cron, setCron] = useState(schedule?.cron_expr ?? '0 9 * * MON-FRI');
  const [timezone, setTimezone] = useState(schedule?.timezone ?? readersZone);
  const [what, setWhat] = useState(() =>
    schedule && !target ? route : target ? `${target.kind}/${target.id}` : '',
  );
  const [message, setMessage] = useState(typeof given === 'string' ? given : '');
  const [method, setMethod] = useState(schedule?.method ?? 'POST');
  const [endpoint, setEndpoint] = useState(schedule?.endpoint ?? '');
  const rest = target ? otherPayload : (schedule?.payload ?? {});
  const [payload, setPayload] = useState(Object.keys(rest).length > 0 ? jsonText(rest) : '');
  const [execution, setExecution] = useState<ExecutionTexts>(executionTexts(schedule));
  const fault = jsonFault(payload, parseJsonObject);
  const chosen = what || (components[0] ? `${components[0].kind}/${components[0].id}` : route);
  const isRoute = chosen === route;
  const save = async () => {
    const [kind, ...id] = chosen.split('/');
    const called = isRoute
      ? { method, endpoint: endpoint.trim(), payload: parseJsonObject(payload) ?? null }
      : {
          method: 'POST',
          // the options are written this way
          endpoint: endpointOf({ kind: kind as Kind, id: id.join('/') }),
          payload: { ...parseJsonObject(payload), message },
        };
    const body: ScheduleCreate = {
      name: name.trim(),
      description: description.trim() || null,
      cron_expr: cron.trim(),
      timezone,
      ...called,
      ...executionOf(execution),
    };
    const saved = await (schedule
      ? client.schedules.update(schedule.id, body)
      : client.schedules.create(body));
    await queries.invalidateQueries({ queryKey: ['schedules'] });
    await queries.invalidateQueries({ queryKey: ['schedule'] });
    onClose();
    if (!schedule) await navigate({ to: '/schedules/$scheduleId', params: { scheduleId: saved.id } });
  };
  const ready = name.trim() !== '' && (isRoute ? endpoint.trim() !== '' : message.trim() !== '');
  return (
    <FormDialog
      size="large"
      title={schedule ? `Edit ${schedule.name}` : 'New schedule'}
      onClose={onClose}
      action={schedule ? 'Save' : 'Create'}
      disabled={!ready || fault !== undefined}
      className="grid grid-cols-1 gap-3 sm:grid-cols-2"
      onSubmit={save}
    >
      <Field label="Name">
        <Input value={name} maxLength={255} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label="Description">
        <Input value={description} onChange={(event) => setDescription(event.target.value)} />
      </Field>
      <Field
        label="Cron"
        hint="Minute, hour, day of the month, month, day of the week; or @daily and the like."
      >
        <Input
          spellCheck={false}
          className="font-mono"
          value={cron}
          onChange={(event) => setCron(event.target.value)}
        />
      </Field>
      <Field label="Time zone" hint={`Yours is ${readersZone}.`}>
        <Input
          list={zoneList}
          spellCheck={false}
          value={timezone}
          onChange={(event) => setTimezone(event.target.value)}
        />
      </Field>
      <datalist id={zoneList}>
        {zones.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <div className="sm:col-span-2">
        <CronPreview cron={cron} timezone={timezone} />
      </div>
      <Field label="What it runs">
        <Select
          value={chosen}
          options={[
            ...(target && !components.some(({ kind, id }) => `${kind}/${id}` === what)
              ? [{ value: what, label: `${target.id} (${target.kind})` }]
              : []),
            ...components.map(({ kind, id, name: called }) => ({
              value: `${kind}/${id}`,
              label: `${called} (${kind})`,
            })),
            { value: route, label: 'Another route of the service' },
          ]}
          onChange={(event) => setWhat(event.target.value)}
        />
      </Field>
      {isRoute && (
        <div className="grid grid-cols-[6rem_minmax(0,1fr)] gap-2">
          <Field label="Method">
            <Select
              value={method}
              options={['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((one) => ({ value: one, label: one }))}
              onChange={(event) => setMethod(event.target.value)}
            />
          </Field>
          <Field label="Path">
            <Input
              spellCheck={false}
              placeholder="/metrics/refresh"
              value={endpoint}
              onChange={(event) => setEndpoint(event.target.value)}
            />
          </Field>
        </div>
      )}
      {!isRoute && (
        <div className="sm:col-span-2">
          <Field label="Message">
            <Textarea rows={3} value={message} onChange={(event) => setMessage(event.target.value)} />
          </Field>
        </div>
      )}
      <details className="sm:col-span-2" open={payload !== '' && isRoute}>
        <summary className="text-xs font-medium text-accent-text">
          Further fields, retries, overlap and missed ticks
        </summary>
        <div className="flex flex-col gap-3 pt-3">
          <Field
            label={isRoute ? 'Body' : 'Further fields of the run'}
            hint={
              isRoute ? 'A JSON object.' : 'A JSON object, such as {"session_id": "daily"} or {"version": 2}.'
            }
            error={fault}
          >
            <CodeArea rows={2} value={payload} onChange={(event) => setPayload(event.target.value)} />
          </Field>
          <ExecutionFields value={execution} onChange={setExecution} />
        </div>
      </details>
    </FormDialog>
  );
}
