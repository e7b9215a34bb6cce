import type { RunyardError } from '../../core/errors/errors.js';
import type { JsonObject } from '../../core/json.js';
import { type Reply, reply } from '../../platform/http/response/results.js';

/** An error as clients of OpenAI read it. */
export interface OpenaiError extends JsonObject {
  message: string;
  type: string;
  param: string | null;
  code: string | null;
}

/** Codes of OpenAI that programs act on, by ours. */
const knownCodes: Readonly<Record<string, string>> = {
  rate_limited: 'rate_limit_exceeded',
  invalid_request: 'invalid_value',
  payload_too_large: 'request_too_large',
  agent_not_found: 'model_not_found',
  team_not_found: 'model_not_found',
  workflow_not_found: 'model_not_found',
};

/** What a client must not send again by itself: another request would start another run. */
export const neverAgain = { 'x-should-retry': 'false' };

/** An error of the catalogue in OpenAI's form, with OpenAI's status. */
export function errorReply(error: RunyardError): Reply {
  // the official clients repeat a conflict and an outage: this run exists, and another attempt would start a second one
  const isOfRun = error.status === 409 || error.code === 'run_handed_on';
  const headers = { ...error.options.headers, ...(isOfRun && neverAgain) };
  return reply(statusOf(error), { error: openaiErrorOf(error) }, headers);
}

export function openaiErrorOf(error: RunyardError): OpenaiError {
  const { items, fields } = error.options;
  const [first] = items ?? [];
  const status = statusOf(error);
  return {
    message: items === undefined ? textOf(error) : items.map(faultInWords).join('; '),
    type: typeOf(status),
    param: first === undefined ? (fields?.param ?? null) : paramOf(first.loc) || null,
    code: status === 401 ? 'invalid_api_key' : (knownCodes[error.code] ?? error.code),
  };
}

/** A hint says what to do: clients show nothing but the message. */
function textOf({ message, options }: RunyardError): string {
  const hint = options.fields?.hint;
  return hint === undefined ? message : `${message}. ${hint}`;
}

/** OpenAI has 400 for what this service calls unprocessable. */
function statusOf({ status }: RunyardError): number {
  return status === 422 ? 400 : status;
}

function typeOf(status: number): string {
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

function faultInWords({ loc, msg }: { readonly loc: readonly (string | number)[]; readonly msg: string }) {
  const param = paramOf(loc);
  const text = msg.replace(/^Value error, /, '');
  return param === '' ? text : `${param}: ${text}`;
}

/** `messages[0].content`; empty for the whole body, and for the place where its JSON breaks. */
function paramOf([, ...parts]: readonly (string | number)[]): string {
  if (typeof parts[0] === 'number') return '';
  return parts
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : at === 0 ? part : `.${part}`))
    .join('');
}
