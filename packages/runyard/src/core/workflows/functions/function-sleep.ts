import { pause } from '../../async/abort.js';
import { outputRecord, readIf } from '../../runs/journal/codec.js';
import { object, yes } from '../../runs/journal/shapes.js';
import { nodeKey, sleepInput } from '../journal-records.js';
import type { FunctionSite, WaitPlace } from './function-site.js';
import { StepFault } from './step-fault.js';

/** A function that sleeps no longer than this stays in its process; a longer sleep pauses the run. */
const heldMs = 60_000;

const slept = outputRecord('end of a sleep', 1, object({ timed_out: yes }));

/** Waits for a time that is recorded: what is left of it after a restart is waited for then. */
export async function sleepInFunction(
  { flow, place, name, parentKey }: FunctionSite,
  wait: WaitPlace,
  until: number | Date,
  signal: AbortSignal,
): Promise<void> {
  const { context } = flow;
  const key = `${nodeKey(place.path)}:${wait.what}`;
  wait.asked(`wait:${key}`);
  const paused = context.recorded(`wait:${key}`);
  const held = context.recorded(key);
  const dueAt =
    readIf(held, sleepInput)?.until ?? (paused === undefined ? await dueTime(flow, name, until) : 0);
  const left = dueAt - (await context.deadline(0));
  if (paused !== undefined || (held === undefined && left > heldMs)) {
    const requirement = {
      key,
      kind: 'sleep',
      parentKey,
      data: { until: dueAt, step_id: place.stepId, step_name: name },
      dueAt,
    };
    await context.wait(requirement, slept);
    return;
  }
  const spec = { kind: 'wait', name: 'sleep', parentKey, input: { until: dueAt }, record: slept } as const;
  await context.step(key, spec, async () => {
    if (left > 0) await context.idle(() => pause(left, signal, context.timers));
    return { timed_out: true };
  });
}

async function dueTime(
  { context }: FunctionSite['flow'],
  name: string,
  until: number | Date,
): Promise<number> {
  const given = until instanceof Date ? until.getTime() : until;
  const isTime = typeof given === 'number' && given >= 0;
  const due = isTime && !(until instanceof Date) ? await context.deadline(given) : given;
  if (isTime && due <= latest) return due;
  const message = `The function of '${name}' calls sleep() with something other than milliseconds or a date.`;
  throw new StepFault({ type: 'workflow_failed', message });
}

/** The last moment that a date can be. */
const latest = 8.64e15;
