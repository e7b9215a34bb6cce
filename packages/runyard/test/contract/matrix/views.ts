import type { TestService } from '../../support/service.js';
import { type Case, casesOf, isOutermost } from './cases.js';
import { refusedToOwners } from './exceptions.js';
import { operations } from './operations.js';
import { isView, ownedIn, requestOf, sent, together } from './requests.js';
import { absentThings } from './things.js';
import type { Person } from './world.js';

/** The answers, by request. */
export type Views = ReadonlyMap<string, { readonly status: number; readonly text: string }>;

/** Every list, without naming anything. */
export function listsSeenBy(service: TestService, headers: Record<string, string>): Promise<Views> {
  const own = absentThings();
  const lists = operations
    .filter(isView)
    .filter(({ fields }) => !fields.some(({ place, required }) => place === 'path' || required))
    .map((operation) => requestOf(operation, { named: new Set(), target: own, own, kind: 'agent' }));
  return answers(service, headers, lists);
}

/** Everything that a user has, requested by its id, or by its owner. */
export function thingsSeenBy(
  service: TestService,
  headers: Record<string, string>,
  { places }: Person,
): Promise<Views> {
  const asked = operations
    .filter((operation) => isView(operation) && !refusedToOwners.has(operation.name))
    .flatMap((operation) => casesOf(operation, places))
    .filter((probe) => isOutermost(probe) && !probe.needsOwn && namesOwner(probe) && !goesOn(probe))
    .map(({ operation, named, place }) =>
      requestOf(operation, { named, target: place, own: place, kind: place.kind }),
    );
  return answers(service, headers, asked);
}

/** Lists of what others wrote about a user's ids are not theirs. */
function namesOwner({ operation, named }: Case): boolean {
  return named.has('user_id') || ownedIn(operation).some(({ place }) => place === 'path');
}

/** A stream of a run that is executing does not end. */
function goesOn({ operation, place }: Case): boolean {
  return place.state === 'running' && /\/(events|resume)$/.test(operation.name);
}

async function answers(
  service: TestService,
  headers: Record<string, string>,
  requests: readonly ReturnType<typeof requestOf>[],
): Promise<Views> {
  const views = new Map<string, { status: number; text: string }>();
  await together(requests, async (request) => {
    const { status, text } = await sent(service, request, headers);
    const key = `${request.operation.method} ${request.path} ${JSON.stringify(request.json ?? request.form ?? {})}`;
    views.set(key, { status, text });
  });
  return views;
}

/** An answer without what depends on its time. */
export function settled(text: string): string {
  return text.replace(/"(duration|end_time|search_time_ms|request_id)":("[^"]*"|[\d.]+)/g, '"$1":0');
}
