import { createHash } from 'node:crypto';
import { errors, RunyardError } from '../../../core/errors/errors.js';
import { type Json, parseJson } from '../../../core/json.js';
import { keysKeptMs } from '../../../core/runs/engine.js';
import type { RunHandle } from '../../../core/runs/execution/run-handle.js';
import type { RunKey } from '../../../core/runs/run-request.js';
import { canonicalJson } from '../../../core/tools/call/canonical-json.js';
import { UploadedFile } from '../../../platform/http/request/uploaded-file.js';
import type { RunSpace } from '../../capability.js';
import type { RunsPlace } from '../run-lookup.js';
import { attachedTo } from './started-run.js';

/** Printable ASCII: anything else does not travel safely in a header. */
const keyPattern = /^[\x20-\x7e]{1,255}$/;

/** What a client's key stands for: a run of this user and this component, started with this form. */
export function runKeyOf(
  userId: string | null,
  { kind, componentId }: RunsPlace,
  key: string,
  form: Readonly<Record<string, unknown>>,
): RunKey {
  if (keyPattern.test(key)) return { userId, kind, componentId, key, payload: payloadHash(form) };
  const msg = 'Value error, an Idempotency-Key has 1 to 255 printable ASCII characters';
  throw errors.invalidRequest([{ type: 'value_error', loc: ['header', 'idempotency-key'], msg, input: key }]);
}

/** The same for the same request, as a form or as JSON: every field as it was understood, and the bytes of every file. */
function payloadHash(form: Readonly<Record<string, unknown>>): string {
  const fields = Object.fromEntries(
    Object.entries(form)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, hashable(value)]),
  );
  return createHash('sha256').update(canonicalJson(fields)).digest('hex');
}

function hashable(value: unknown): Json {
  if (Array.isArray(value)) return value.map(hashable);
  if (typeof value === 'string') return withoutLayout(value);
  // fields of a form that the schema read: texts, numbers, JSON
  if (!(value instanceof UploadedFile)) return value as Json;
  const { filename, mimeType, bytes } = value;
  return { filename, mimeType, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** A text of JSON says the same with other white space and another order of keys: a body of JSON may have held its value. */
function withoutLayout(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return canonicalJson(parseJson(text));
  } catch {
    return text;
  }
}

/** The run that was started under this key; undefined if none was, refused if the request was another one. */
export async function runUnderKey(space: RunSpace, request: RunKey): Promise<RunHandle | undefined> {
  const known = await space.runs.idempotentRun(request, (await space.runs.leases.now()) - keysKeptMs);
  if (known === undefined) return undefined;
  if (known.payload !== request.payload) throw errors.idempotencyKeyTaken(known.runId);
  const stored = await space.runs.load(known.runId);
  if (stored === undefined) throw errors.runNotFound();
  return attachedTo(space, stored.run);
}

/** Whether another request may have come first: with the same key, and perhaps with the same run_id. */
export function mayBeSecond(error: unknown): boolean {
  return (
    error instanceof RunyardError && (error.code === 'idempotency_key_taken' || error.code === 'run_exists')
  );
}
