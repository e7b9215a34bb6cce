import type { RunyardError } from '../../core/errors/errors.js';
import type { Json, JsonObject } from '../../core/json.js';

/** An error in the words of the protocol. */
interface ProtocolError {
  /** Of JSON-RPC. */
  readonly code: number;
  /** Of HTTP+JSON. */
  readonly status: number;
  readonly name: string;
  readonly reason: string;
  /** Left out: the message of the error. */
  readonly message?: string;
}

const badRequest = { status: 400, name: 'INVALID_ARGUMENT' };
const failed = { status: 400, name: 'FAILED_PRECONDITION' };

const known: Readonly<Record<string, ProtocolError>> = {
  run_not_found: {
    code: -32001,
    status: 404,
    name: 'NOT_FOUND',
    reason: 'TASK_NOT_FOUND',
    message: 'Task not found',
  },
  push_config_not_found: { code: -32001, status: 404, name: 'NOT_FOUND', reason: 'TASK_NOT_FOUND' },
  task_not_cancelable: { code: -32002, ...failed, reason: 'TASK_NOT_CANCELABLE' },
  push_notifications_off: { code: -32003, ...failed, reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' },
  unsupported_operation: { code: -32004, ...failed, reason: 'UNSUPPORTED_OPERATION' },
  unsupported_media_type: { code: -32005, ...badRequest, status: 415, reason: 'CONTENT_TYPE_NOT_SUPPORTED' },
  unsupported_file_type: { code: -32005, ...badRequest, status: 415, reason: 'CONTENT_TYPE_NOT_SUPPORTED' },
  extended_card_missing: { code: -32007, ...failed, reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED' },
  a2a_version_not_supported: { code: -32009, ...failed, reason: 'VERSION_NOT_SUPPORTED' },
  invalid_json_rpc: { code: -32600, ...badRequest, reason: 'INVALID_REQUEST' },
  unknown_a2a_method: { code: -32601, status: 404, name: 'NOT_FOUND', reason: 'METHOD_NOT_FOUND' },
};

const statusNames: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

export function protocolError(error: RunyardError): ProtocolError {
  const one = known[error.code];
  if (one !== undefined) return one;
  const { status, code: slug } = error;
  const reason = slug.toUpperCase();
  if (isJsonFault(error)) return { code: -32700, ...badRequest, reason: 'PARSE_ERROR' };
  if (status >= 500) return { code: -32603, status, name: statusNames[status] ?? 'INTERNAL', reason };
  const shownStatus = status === 422 ? 400 : status;
  return { code: -32602, status: shownStatus, name: statusNames[status] ?? 'INVALID_ARGUMENT', reason };
}

/** The body is not JSON at all. */
function isJsonFault({ options }: RunyardError): boolean {
  return options.items?.some(({ type }) => type === 'json_invalid') ?? false;
}

/** What a person reads: one sentence for each fault. */
export function messageOf(error: RunyardError): string {
  const { items } = error.options;
  if (items === undefined) return protocolError(error).message ?? error.message;
  return items.map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`).join('; ');
}

const ownDomain = 'runyard';

function errorInfo(error: RunyardError, { reason }: ProtocolError): JsonObject {
  const domain = known[error.code] === undefined ? ownDomain : 'a2a-protocol.org';
  const fields = { ...error.options.fields };
  return {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason,
    domain,
    ...(Object.keys(fields).length > 0 && { metadata: fields }),
  };
}

/** An error of JSON-RPC. */
export function rpcError(error: RunyardError, id: Json): JsonObject {
  const of = protocolError(error);
  return {
    jsonrpc: '2.0',
    id,
    error: { code: of.code, message: messageOf(error), data: [errorInfo(error, of)] },
  };
}

/** An error of HTTP+JSON in protocol 1.0. */
export function restError(error: RunyardError): JsonObject {
  const of = protocolError(error);
  const { status: code, name: status } = of;
  return { error: { code, status, message: messageOf(error), details: [errorInfo(error, of)] } };
}

/** An error of HTTP+JSON in protocol 0.3. */
export function restError03(error: RunyardError): JsonObject {
  return { code: protocolError(error).code, message: messageOf(error) };
}
