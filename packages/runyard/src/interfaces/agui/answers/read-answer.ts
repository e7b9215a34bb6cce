import { isJsonObject, type Json, type JsonObject } from '../../../core/json.js';
import type { Question, SimpleAnswer } from '../../common/answers/question.js';
import { formOf } from '../../common/answers/question-form.js';

/**
 * The answer to a question, from the JSON of a client: what `responseSchema` asks for, or what clients of AgentOS send
 * (`accepted`, `values`, `selections`). Undefined for one that answers nothing.
 */
export function readAnswer(question: Question, given: Json | undefined): SimpleAnswer | undefined {
  const { asked } = question;
  const fields = isJsonObject(given) ? given : {};
  switch (asked.kind) {
    case 'confirmation':
      return confirmation(given);
    case 'result':
      return given === undefined ? undefined : { result: resultIn(given) };
    case 'decision': {
      const decision = fields.decision ?? given;
      return decision === 'retry' || decision === 'skip' ? { decision } : undefined;
    }
    case 'input': {
      if (!isJsonObject(given)) return undefined;
      const names = asked.fields.map(({ name }) => name);
      if (!names.includes('values') && isJsonObject(fields.values)) return { values: fields.values };
      return { values: fields };
    }
    case 'choice': {
      const { selections } = fields;
      if (isJsonObject(selections))
        return { selected: asked.choices.map(({ question: text }) => labelsIn(selections[text])) };
      if (Array.isArray(given)) return { selected: given.map(String) };
      return isJsonObject(given) ? formOf(question, true)?.answer(fields) : undefined;
    }
  }
}

/** Only a clear yes is one. */
function confirmation(given: Json | undefined): SimpleAnswer {
  if (typeof given === 'boolean') return { confirmed: given };
  const fields: JsonObject = isJsonObject(given) ? given : {};
  const { note } = fields;
  const confirmed = [fields.accepted, fields.confirmed, fields.approved].find((one) => one !== undefined);
  return { confirmed: confirmed === true, ...(typeof note === 'string' && note !== '' && { note }) };
}

/** A result is a text; what is not becomes JSON. */
function resultIn(given: Json): string {
  return typeof given === 'string' ? given : JSON.stringify(given);
}

function labelsIn(value: Json | undefined): string[] {
  return [value ?? []].flat().map(String);
}
