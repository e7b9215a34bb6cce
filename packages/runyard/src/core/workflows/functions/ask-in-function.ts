import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { checkOptions, checkValue } from '../../options/check-options.js';
import { kind } from '../../options/kinds.js';
import { schema as schemaKind } from '../../options/schema-kind.js';
import { faultText } from '../../schemas/schema-faults.js';
import { fitInName, jsonSchemaOf, type ValueSchema } from '../../schemas/value-schema.js';
import { formFieldsOf } from '../../tools/questions/input-fields.js';
import type { Confirmation, WaitOptions } from '../definition/step-calls.js';
import { stepFields, tell } from '../execution/flow.js';
import { nodeKey } from '../journal-records.js';
import { ask, isNews } from '../review/ask.js';
import { requirementOf, reviewAnswer, type StepRequirement } from '../review/step-requirement.js';
import { stepPaused } from '../workflow-events.js';
import type { FunctionSite, WaitPlace } from './function-site.js';
import { AnswerRejected, StepFault } from './step-fault.js';
import { waitOptions } from './wait-options.js';

const longestQuestion = 10_000;
const question = kind(
  `a text of 1 to ${longestQuestion} characters`,
  (value) => typeof value === 'string' && value !== '' && value.length <= longestQuestion,
);

/** How many answers that the schema refuses a question takes before the step fails. */
const mostRefused = 10;

/** The field for a value that is no object of named values. */
const single = 'answer';

/**
 * Asks a person in the middle of the work of a function. A form can only check each value by its type: an answer that
 * the schema refuses is asked for again, with the reason. Undefined: the time was up.
 */
export async function askInFunction(
  site: FunctionSite,
  wait: WaitPlace,
  asked: string,
  schema: ValueSchema | undefined,
  options: WaitOptions = {},
): Promise<Confirmation | Json | undefined> {
  const owner = `suspend() in '${site.name}'`;
  checkValue(owner, 'the question', asked, question);
  if (schema !== undefined) checkValue(owner, 'the schema', schema, schemaKind);
  checkOptions(owner, options, waitOptions);
  const form = schema === undefined ? confirmation : formOf(jsonSchemaOf(schema));
  let text = asked;
  for (let refused = 0; refused < mostRefused; refused += 1) {
    const what = refused === 0 ? wait.what : `${wait.what}:${refused + 1}`;
    const answer = await askOnce(site, { ...wait, what }, text, form, refused, options);
    if ('timed_out' in answer) return undefined;
    const { confirmed, rejection_feedback: feedback = null } = answer;
    if (schema === undefined) return { confirmed, feedback };
    if (form === confirmation) return confirmed;
    if (!confirmed) throw new AnswerRejected(site.name, feedback);
    const values = answer.user_input ?? {};
    const given = form.isSingle ? (values[single] ?? null) : values;
    const fitted = await fitInName(site.flow.context.callApplication, 'suspend', schema, given);
    if (fitted.ok) return fitted.value;
    text = `${asked}\nThe last answer does not fit: ${fitted.faults.map(faultText).join('; ')}`;
  }
  const message = `The question of '${site.name}' had ${mostRefused} answers that do not fit its schema.`;
  throw new StepFault({ type: 'step_rejected', message });
}

async function askOnce(
  { flow, place, name, parentKey }: FunctionSite,
  wait: WaitPlace,
  text: string,
  form: Form,
  refused: number,
  { timeoutMs }: WaitOptions,
) {
  const { what } = wait;
  wait.asked(`wait:${nodeKey(place.path)}:${what}`);
  const fields = stepFields({ name }, place);
  const isConfirmation = form === confirmation;
  const requirement: StepRequirement = {
    ...requirementOf(fields, 'Step', {}, refused),
    ...(isConfirmation
      ? { requires_confirmation: true, confirmation_message: text }
      : { requires_user_input: true, user_input_message: text, user_input_schema: [...form.fields] }),
    ...(wait.name !== undefined && { question_name: wait.name }),
  };
  const answer = await ask(flow, place, reviewAnswer, {
    what,
    kind: 'step_suspend',
    requirement,
    parentKey,
    event: stepPaused(fields, requirement),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  if (isNews(flow, place, what))
    tell(flow, place, `${what}:continued`, { event: 'StepContinued', ...fields });
  return answer;
}

/** What a person fills in, as the wire shows it. */
interface Form {
  readonly fields: readonly JsonObject[];
  /** One value, and no object of them. */
  readonly isSingle: boolean;
}

/** Nothing is filled in: the person agrees or does not. */
const confirmation: Form = { fields: [], isSingle: false };

function formOf(schema: JsonObject): Form {
  if (schema.type === 'boolean') return confirmation;
  const { properties } = schema;
  const isForm = isJsonObject(properties) && Object.keys(properties).length > 0;
  const whole = isForm ? schema : { ...schema, properties: { [single]: schema }, required: [single] };
  return { fields: fieldsOf(whole), isSingle: !isForm };
}

function fieldsOf(schema: JsonObject): JsonObject[] {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return formFieldsOf(schema).map(({ name, type, description, optional }) => {
    const property = properties[name];
    const allowed = isJsonObject(property) ? property.enum : undefined;
    return {
      name,
      field_type: type,
      description: description ?? null,
      value: null,
      required: optional !== true,
      ...(Array.isArray(allowed) && { allowed_values: allowed }),
    };
  });
}
