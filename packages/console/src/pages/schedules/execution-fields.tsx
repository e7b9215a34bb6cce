import type { Schedule, ScheduleCreate } from '@runyard/client';
import { Field } from '../../ui/forms/field.js';
import { Input, Select } from '../../ui/forms/inputs.js';

/** How a tick is executed, as a person writes it. */
export interface ExecutionTexts {
  readonly overlap: string;
  readonly missed: string;
  readonly timeout: string;
  readonly retries: string;
  readonly delay: string;
  readonly jitter: string;
}

export function executionTexts(schedule: Schedule | undefined): ExecutionTexts {
  return {
    overlap: schedule?.overlap ?? 'skip',
    missed: schedule?.missed ?? 'once',
    timeout: String(schedule?.timeout_seconds ?? 3600),
    retries: String(schedule?.max_retries ?? 0),
    delay: String(schedule?.retry_delay_seconds ?? 60),
    jitter: String(schedule?.jitter_seconds ?? 0),
  };
}

export function executionOf(texts: ExecutionTexts): Partial<ScheduleCreate> {
  return {
    // the options below are these words
    overlap: texts.overlap as NonNullable<ScheduleCreate['overlap']>,
    // as above
    missed: texts.missed as NonNullable<ScheduleCreate['missed']>,
    timeout_seconds: Number(texts.timeout),
    max_retries: Number(texts.retries),
    retry_delay_seconds: Number(texts.delay),
    jitter_seconds: Number(texts.jitter),
  };
}

const overlaps = [
  { value: 'skip', label: 'Leave the tick out' },
  { value: 'queue', label: 'Execute it afterwards' },
  { value: 'allow', label: 'Execute both' },
];

const misses = [
  { value: 'skip', label: 'Leave them out' },
  { value: 'once', label: 'Once for all of them' },
  { value: 'all', label: 'Each of them' },
];

export function ExecutionFields({
  value,
  onChange,
}: {
  readonly value: ExecutionTexts;
  onChange(value: ExecutionTexts): void;
}) {
  const text = (key: keyof ExecutionTexts) => ({
    value: value[key],
    onChange: (event: { target: { value: string } }) => onChange({ ...value, [key]: event.target.value }),
  });
  const number = (key: keyof ExecutionTexts) => ({ type: 'number', min: 0, ...text(key) });
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
      <Field label="While an earlier one is in progress">
        <Select options={overlaps} {...text('overlap')} />
      </Field>
      <Field label="Ticks while no process was there">
        <Select options={misses} {...text('missed')} />
      </Field>
      <Field label="Retries of a failed attempt">
        <Input {...number('retries')} max={10} />
      </Field>
      <Field label="Seconds between attempts">
        <Input {...number('delay')} max={3600} />
      </Field>
      <Field label="Time-out of an attempt, in seconds">
        <Input {...number('timeout')} min={1} max={86_400} />
      </Field>
      <Field label="Random delay, up to so many seconds">
        <Input {...number('jitter')} max={3600} />
      </Field>
    </div>
  );
}
