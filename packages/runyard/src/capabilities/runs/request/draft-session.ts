import { errors } from '../../../core/errors/errors.js';
import { ComponentFactory } from '../../../core/factories/component-factory.js';
import type { RunRequest } from '../../../core/runs/run-request.js';
import type { Caller } from '../../../platform/auth/caller.js';
import type { FoundComponent } from '../run-lookup.js';

/**
 * Drafts have sessions of their own: a conversation with a published version does not continue with a draft. Refuses
 * any other session that exists, and marks one that nothing has run in yet. A new one whose id the client chose is made
 * first: a published version may begin to run under the same id at the same moment.
 */
export async function prepareDraftSession(
  { scope }: Caller,
  { component, space }: FoundComponent,
  { sessionId, userId }: Pick<RunRequest, 'sessionId' | 'userId'>,
): Promise<void> {
  if (sessionId === undefined || component instanceof ComponentFactory) return;
  const { kind, id, origin, sessionMetadata } = component;
  if (origin?.stage !== 'draft') return;
  if ((await space.sessions.find(scope, sessionId)) === undefined) {
    const made = await space.sessions.create({
      ...{ sessionId, kind, componentId: id, userId },
      ...{ name: null, shownName: null, state: {}, metadata: sessionMetadata ?? null, now: Date.now() },
    });
    if (made) return;
    // whether the caller may run in it is decided later: until then, a session of another user is not known
    if ((await space.sessions.find(scope, sessionId)) === undefined) return;
  }
  const [session] = await space.sessions.records([sessionId]);
  if (session === undefined || session.metadata?.preview !== undefined) return;
  if ((await space.runs.session(sessionId))?.unused !== true)
    throw errors.notForDrafts(sessionId, kind, id, origin.version);
  const metadata = { ...sessionMetadata, ...session.metadata };
  await space.sessions.change(scope, sessionId, { metadata, now: Date.now() });
}
