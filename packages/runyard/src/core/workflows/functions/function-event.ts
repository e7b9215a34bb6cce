import type { Json } from '../../json.js';
import { checkOptions, checkValue } from '../../options/check-options.js';
import { name as nameKind } from '../../options/kinds.js';
import { schema as schemaKind } from '../../options/schema-kind.js';
import { eventWaitName, mostEvents } from '../../runs/journal/received-events.js';
import { faultText } from '../../schemas/schema-faults.js';
import { fitInName, jsonSchemaOf, type ValueSchema } from '../../schemas/value-schema.js';
import type { WaitOptions } from '../definition/step-calls.js';
import { stepFields } from '../execution/flow.js';
import { eventAnswer, nodeKey } from '../journal-records.js';
import type { FunctionSite, WaitPlace } from './function-site.js';
import { StepFault } from './step-fault.js';
import { waitOptions } from './wait-options.js';

/**
 * Waits until the run receives an event of this name: one that came before, or the next one. An event whose data does
 * not fit is passed over. Undefined: the time was up.
 */
export async function waitForEventInFunction(
  site: FunctionSite,
  wait: WaitPlace,
  name: string,
  schema: ValueSchema | undefined,
  options: WaitOptions = {},
): Promise<Json | undefined> {
  const owner = `waitForEvent() in '${site.name}'`;
  checkValue(owner, 'the name', name, nameKind);
  if (schema !== undefined) checkValue(owner, 'the schema', schema, schemaKind);
  checkOptions(owner, options, waitOptions);
  const { context } = site.flow;
  for (let refused = 0; refused < mostEvents; refused += 1) {
    const what = refused === 0 ? wait.what : `${wait.what}:${refused + 1}`;
    const answer = await nextEvent(site, { ...wait, what }, name, schema, options);
    if ('timed_out' in answer) return undefined;
    if (schema === undefined) return answer.data;
    const fitted = await fitInName(context.callApplication, 'waitForEvent', schema, answer.data);
    if (fitted.ok) return fitted.value;
    const reason = fitted.faults.map(faultText).join('; ');
    const facts = { runId: context.run.runId, eventId: answer.event_id, name, reason };
    context.log.warn(facts, 'an event does not fit what the run waits for');
  }
  const message = `The function of '${site.name}' received ${mostEvents} events '${name}' that do not fit.`;
  throw new StepFault({ type: 'workflow_failed', message });
}

async function nextEvent(
  { flow, place, name: stepName, parentKey }: FunctionSite,
  wait: WaitPlace,
  name: string,
  schema: ValueSchema | undefined,
  { timeoutMs }: WaitOptions,
) {
  const { context } = flow;
  const key = `${nodeKey(place.path)}:${wait.what}`;
  const waitKey = `wait:${key}`;
  wait.asked(waitKey);
  const kind = eventWaitName(name);
  const { step_id, step_name } = stepFields({ name: stepName }, place);
  const data = {
    step_id,
    step_name,
    event_name: name,
    ...(schema !== undefined && { schema: jsonSchemaOf(schema) }),
  };
  if (context.recorded(waitKey) === undefined) {
    const { runId } = context.root;
    const fullKey = context.idempotencyKey(waitKey).slice(runId.length + 1);
    const kept = await context.ports.receivedEvents.take(runId, name, fullKey);
    if (kept !== undefined) {
      const spec = { kind: 'wait', name: kind, parentKey, input: data, record: eventAnswer } as const;
      return context.step(waitKey, spec, async () => ({ event_id: kept.eventId, data: kept.data }));
    }
  }
  const dueAt = timeoutMs === undefined ? undefined : await context.deadline(timeoutMs);
  return context.wait({ key, kind, parentKey, data, ...(dueAt !== undefined && { dueAt }) }, eventAnswer);
}
