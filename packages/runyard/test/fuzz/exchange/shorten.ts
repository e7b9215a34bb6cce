import type { FuzzBody, FuzzRequest } from './request.js';

/** How often a failing request is sent again to find what of it matters. */
const mostTries = 80;

/** Leaves out whatever the failure does not need. Asks `fails` about each shorter request. */
export async function shortened(
  request: FuzzRequest,
  fails: (request: FuzzRequest) => Promise<boolean>,
): Promise<FuzzRequest> {
  let tries = 0;
  let shortest = request;
  for (let progress = true; progress; ) {
    progress = false;
    for (const candidate of shorter(shortest)) {
      if (tries++ >= mostTries) return shortest;
      if (!(await fails(candidate))) continue;
      shortest = candidate;
      progress = true;
      break;
    }
  }
  return shortest;
}

function* shorter(request: FuzzRequest): Generator<FuzzRequest> {
  const { query, headers, body } = request;
  if (body !== null) yield { ...request, body: null };
  if (query.length > 1) yield { ...request, query: [] };
  for (const rest of withoutEach(query)) yield { ...request, query: rest };
  for (const rest of withoutEach(headers)) yield { ...request, headers: rest };
  for (const less of body === null ? [] : shorterBodies(body)) yield { ...request, body: less };
}

function* shorterBodies(body: FuzzBody): Generator<FuzzBody> {
  if (body.kind === 'urlencoded') for (const fields of withoutEach(body.fields)) yield { ...body, fields };
  if (body.kind === 'multipart') for (const parts of withoutEach(body.parts)) yield { ...body, parts };
  if (body.kind === 'json' && typeof body.value === 'object' && body.value !== null)
    for (const rest of withoutEach(Object.entries(body.value)))
      yield {
        ...body,
        value: Array.isArray(body.value) ? rest.map(([, item]) => item) : Object.fromEntries(rest),
      };
}

function* withoutEach<Item>(list: readonly Item[]): Generator<Item[]> {
  for (let at = 0; at < list.length; at++) yield list.filter((_item, index) => index !== at);
}
