import { z } from 'zod';
import type { JsonObject } from '../../../json.js';
import { once } from '../../../once.js';
import type { PastSession, SessionOwner } from '../../../runs/past-sessions.js';
import { ToolRefused } from '../../../tools/call/tool-hooks.js';
import { nativeTool } from '../../../tools/tool.js';
import { shortened } from '../../auxiliary/bounded-text.js';
import type { AgentExecution } from '../../execution.js';
import { type Exchange, exchangeOf } from '../../transcript.js';
import { exchangesToRead } from './exchanges-to-read.js';
import { executionOf } from './execution-of-call.js';

const defaultSessions = 20;
const defaultRuns = 3;
const previewLength = 300;
const longestText = 2_000;

export const searchPastSessions = once(() =>
  nativeTool({
    name: 'search_past_sessions',
    description:
      'Find out what was talked about in earlier sessions with this user: the latest first, each with a preview of what was said.',
    inputSchema: z.object({
      query: z
        .string()
        .max(500)
        .optional()
        .describe('Words to look for; leave it out to see the latest sessions.'),
    }),
    readOnly: true,
    async execute({ query = '' }, site) {
      const execution = executionOf(site);
      const { settings } = execution.agent;
      const latest = await execution.context.ports.pastSessions.latest(ownerOf(execution), {
        exceptSessionId: site.sessionId,
        sessions: settings.numPastSessionsToSearch ?? defaultSessions,
        runs: settings.numPastSessionRunsInSearch ?? defaultRuns,
      });
      const found = matching(await Promise.all(latest.map((session) => read(execution, session))), query);
      if (found.length > 0) return found.map((session) => shown(session, previewLength));
      return query === '' ? 'There are no earlier sessions.' : 'No earlier session mentions these words.';
    },
  }),
);

export const readPastSession = once(() =>
  nativeTool({
    name: 'read_past_session',
    description:
      'Read one of the sessions that search_past_sessions found in full, the oldest exchange first.',
    inputSchema: z.object({
      session_id: z.string().max(255).describe('The id of the session, as search_past_sessions returns it.'),
      num_runs: exchangesToRead,
    }),
    readOnly: true,
    async execute({ session_id, num_runs }, site) {
      const execution = executionOf(site);
      const session = await execution.context.ports.pastSessions.read(
        ownerOf(execution),
        session_id,
        num_runs,
      );
      if (session === undefined) throw new ToolRefused(`There is no session '${session_id}' of this user.`);
      return shown(await read(execution, session), longestText);
    },
  }),
);

/** The sessions of the run's own user with the run's own agent. A run without a user has none. */
function ownerOf({ context }: AgentExecution): SessionOwner {
  const { userId, kind, componentId } = context.run;
  if (userId === null)
    throw new ToolRefused(
      'This conversation belongs to no known user, so there are no earlier sessions to read.',
    );
  return { userId, kind, componentId };
}

interface ReadSession extends Omit<PastSession, 'runs'> {
  readonly exchanges: readonly Exchange[];
}

/** What was said in the runs of a session. */
async function read({ context }: AgentExecution, { runs, ...about }: PastSession): Promise<ReadSession> {
  const loaded = await context.runs(runs.map(({ runId }) => runId));
  return { ...about, exchanges: loaded.map(({ run, steps }) => exchangeOf(run, steps)) };
}

/** The sessions that hold the most of the words, as good as each other in the order in which they came. */
function matching(sessions: readonly ReadSession[], query: string): readonly ReadSession[] {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
  if (words.length === 0) return sessions;
  return sessions
    .map((session) => {
      const text = [session.name, ...session.exchanges.flatMap(({ user, answer }) => [user, answer])]
        .join('\n')
        .toLowerCase();
      return { session, hits: words.filter((word) => text.includes(word)).length };
    })
    .filter(({ hits }) => hits > 0)
    .sort((left, right) => right.hits - left.hits)
    .map(({ session }) => session);
}

function shown({ sessionId, name, updatedAt, exchanges }: ReadSession, length: number): JsonObject {
  return {
    session_id: sessionId,
    ...(name !== null && { name }),
    last_used: new Date(updatedAt).toISOString(),
    runs: exchanges.map(({ user, answer }) => ({
      ...(user !== '' && { user: shortened(user, length) }),
      assistant: shortened(answer, length),
    })),
  };
}
