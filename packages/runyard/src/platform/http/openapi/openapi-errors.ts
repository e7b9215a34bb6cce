import type { RouteFacts } from '../route.js';

type DescribedRoute = RouteFacts & {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
};

interface ApiError {
  readonly name: string;
  readonly response: object;
  /** Whether a route can answer so without naming it itself. */
  applies(route: DescribedRoute): boolean;
}

const requestId = {
  type: 'string',
  description: 'The id of the request, also in the header x-request-id and in the log.',
  examples: ['019a8502-7f3e-7cc1-8d40-5a7b1a6f2c12'],
};

const errorCode = { type: 'string', description: 'The stable name of the error, in snake case.' };

function subject(description: string): object {
  return { type: 'string', description, 'x-addition': true };
}

/** The bodies of errors, for the description of the API. */
export const problemSchemas = {
  Problem: {
    type: 'object',
    description: 'What went wrong and how to fix it.',
    properties: {
      detail: { type: 'string', description: 'The message for people.' },
      error_code: errorCode,
      request_id: requestId,
      hint: subject('The available alternatives, if the caller may see them.'),
      run_id: subject('The run that the error concerns, if any.'),
      session_id: subject('The session of that run.'),
      agent_id: subject('The agent of that run.'),
      team_id: subject('The team of that run.'),
      workflow_id: subject('The workflow of that run.'),
    },
    required: ['detail', 'error_code', 'request_id'],
  },
  ValidationProblem: {
    type: 'object',
    description: 'All faults of the request with their locations.',
    properties: {
      detail: {
        anyOf: [
          { type: 'array', items: { $ref: '#/components/schemas/ValidationItem' } },
          { type: 'string' },
        ],
      },
      error_code: errorCode,
      request_id: requestId,
    },
    required: ['detail', 'error_code', 'request_id'],
  },
  ValidationItem: {
    type: 'object',
    description: 'One fault of a request.',
    properties: {
      type: { type: 'string', description: 'The kind of fault.', examples: ['missing'] },
      loc: {
        type: 'array',
        items: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
        description: 'The location: path, query or body, followed by the path to the field.',
        examples: [['body', 'message']],
      },
      msg: { type: 'string', examples: ['Field required'] },
      input: { description: 'The value that was sent.' },
      ctx: { type: 'object', description: 'The limits and texts of the fault.' },
    },
    required: ['type', 'loc', 'msg', 'input'],
  },
};

const closed = (route: DescribedRoute) => !route.public;
const takesInput = (route: DescribedRoute) => Boolean(route.params || route.query || route.body);
const takesBody = (route: DescribedRoute) => Boolean(route.body);

const retryAfter = {
  'retry-after': {
    description: 'The number of seconds to wait before a retry, if known.',
    schema: { type: 'string' },
  },
};

const runId = {
  'x-run-id': {
    description: 'The run_id of the body, percent-encoded, if the error concerns a run.',
    schema: { type: 'string' },
  },
};

export const hintHeader = {
  'x-runyard-hint': {
    description: 'The suggested names for unknown fields, if any.',
    schema: { type: 'string' },
    'x-addition': true,
  },
};

export const apiErrors: Readonly<Record<number, ApiError>> = {
  400: {
    name: 'BadRequest',
    applies: () => true,
    response: problem('The request is invalid.', 'Unsupported file type', 'unsupported_file_type'),
  },
  401: {
    name: 'Unauthenticated',
    applies: closed,
    response: problem('The token is missing or invalid.', 'Authentication required', 'unauthenticated'),
  },
  403: {
    name: 'Forbidden',
    applies: () => true,
    response: problem(
      'The caller lacks permission, the request comes from a page of a disallowed origin, or its Host header names a host that is not allowed.',
      'Insufficient permissions',
      'forbidden',
    ),
  },
  404: {
    name: 'NotFound',
    applies: closed,
    response: problem('The resource does not exist, or the caller may not see it.', 'Not Found', 'not_found'),
  },
  408: {
    name: 'RequestTimeout',
    applies: takesBody,
    response: problem(
      'The body arrives too slowly.',
      'The request arrives too slowly: its body must bring at least 16 KiB in 30000 ms (setting slowClientMs).',
      'request_timeout',
    ),
  },
  409: {
    name: 'Conflict',
    applies: (route) => closed(route) && route.method !== 'GET',
    response: {
      ...problem(
        'The request conflicts with the current state.',
        'Run 019a8502-7f3e-7cc1-8d40-5a7b1a6f2c11 already exists. Omit run_id, or choose another.',
        'run_exists',
        { run_id: '019a8502-7f3e-7cc1-8d40-5a7b1a6f2c11' },
      ),
      headers: runId,
    },
  },
  413: {
    name: 'PayloadTooLarge',
    applies: takesBody,
    response: problem(
      'The body is too large.',
      'The request body is larger than the limit of 1 MiB (setting maxBodyBytes).',
      'payload_too_large',
    ),
  },
  414: {
    name: 'UrlTooLong',
    applies: takesInput,
    response: problem(
      'The address is too long or has too many parameters.',
      'The address of the request is longer than the limit of 16384 characters.',
      'url_too_long',
    ),
  },
  415: {
    name: 'UnsupportedMediaType',
    applies: takesBody,
    response: problem(
      'The content type of the body is not accepted.',
      'Content type text/csv is not accepted here. Send application/json.',
      'unsupported_media_type',
    ),
  },
  422: {
    name: 'InvalidRequest',
    applies: (route) => closed(route) || takesInput(route),
    response: {
      description: 'The request has faults.',
      headers: hintHeader,
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/ValidationProblem' },
          example: {
            detail: [{ type: 'missing', loc: ['body', 'message'], msg: 'Field required', input: null }],
            error_code: 'invalid_request',
            request_id: requestId.examples[0],
          },
        },
      },
    },
  },
  429: {
    name: 'TooManyRequests',
    applies: closed,
    response: {
      ...problem(
        'The caller has made too many requests, or this address has made too many failed authentication attempts.',
        'Too many failed authentication attempts',
        'too_many_failed_attempts',
      ),
      headers: retryAfter,
    },
  },
  431: {
    name: 'HeadersTooLarge',
    applies: closed,
    response: problem(
      'The headers are too large or too many.',
      'The headers of the request are larger than the limit of 32 KiB (setting maxHeaderBytes).',
      'headers_too_large',
    ),
  },
  500: {
    name: 'InternalError',
    applies: () => true,
    response: problem(
      'An unexpected error occurred.',
      'Internal server error. The log has the details under this request_id.',
      'internal_error',
    ),
  },
  502: {
    name: 'BadGateway',
    applies: ({ asksOthers = false }) => asksOthers,
    response: problem(
      'A service that this one needs, such as a model provider, failed.',
      'The query could not be embedded: OpenAI answered with status 500.',
      'embedder_failed',
    ),
  },
  503: {
    name: 'Unavailable',
    applies: closed,
    response: {
      ...problem(
        'The service is unavailable: it is stopping, its run queue is full, too many large bodies arrive at once, or its database is not ready.',
        'The service is stopping and accepts no new runs. Try again shortly.',
        'service_stopping',
      ),
      headers: { ...retryAfter, ...runId },
    },
  },
};

function problem(description: string, detail: string, code: string, fields?: object): object {
  return {
    description,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Problem' },
        example: { detail, error_code: code, request_id: requestId.examples[0], ...fields },
      },
    },
  };
}
