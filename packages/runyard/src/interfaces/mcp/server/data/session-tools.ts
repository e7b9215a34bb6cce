import { z } from 'zod';
import { errors } from '../../../../core/errors/errors.js';
import { assertMay } from '../../../../platform/auth/authenticator.js';
import { scopeNaming } from '../../../../platform/auth/caller.js';
import { boundsOf } from '../../../../platform/http/defences/time-bounds.js';
import { largestPage, pageOf } from '../../../../platform/http/request/pagination.js';
import { type BuiltinTool, builtinTool, objectResult, optional, textBlock } from '../mcp-tool.js';
import { given } from '../runs/run-place.js';

const kind = () => z.enum(['agent', 'team', 'workflow']);
const user = optional(
  z.string(),
  'Only what belongs to this user. Callers who see only their own see theirs.',
);
const database = optional(z.string(), 'The database, if the service has several.');
/** A result is one message, which holds no more sessions and no more text. */
const mostSessions = 100;
const mostCharacters = 4_000_000;

const page = z.int().min(1).default(1).meta({ description: 'The page number, starting at 1.' });

function pageSize(most: number) {
  return z
    .int()
    .min(1)
    .meta({ description: `The number of entries per page. More than ${most} count as ${most}.` });
}

const getSessions = builtinTool({
  name: 'get_sessions',
  tag: 'session',
  title: 'List sessions',
  description: 'A page of sessions, without their runs.',
  annotations: { readOnlyHint: true },
  args: {
    session_type: kind().default('agent').meta({ description: 'With what kind of component.' }),
    component_id: optional(z.string(), 'Only sessions with this agent, team or workflow.'),
    user_id: user,
    session_name: optional(z.string(), 'Part of the name, case-insensitive.'),
    limit: pageSize(mostSessions).default(20),
    page,
    sort_by: z.string().default('created_at').meta({ description: 'created_at, updated_at or session_id.' }),
    sort_order: z.enum(['asc', 'desc']).default('desc'),
    db_id: database,
  },
  output: { type: 'object', additionalProperties: true },
  async execute({ site, caller }, args) {
    assertMay(caller, { scope: 'sessions:read', params: {} });
    const wanted = { page: args.page, limit: Math.min(args.limit, mostSessions) };
    const { entries, total } = await site.services.sessions.list(caller, {
      ...wanted,
      type: args.session_type,
      component_id: given(args.component_id),
      user_id: given(args.user_id),
      session_name: given(args.session_name),
      sort_by: args.sort_by,
      sort_order: args.sort_order,
      db_id: given(args.db_id),
    });
    const data: Record<string, unknown>[] = [];
    for await (const entry of entries) data.push(entry);
    return objectResult(pageOf(data, wanted, total));
  },
});

/** What a list shows of a run. */
const listedFields = [
  'run_id',
  'run_input',
  'content',
  'status',
  'created_at',
  'agent_id',
  'team_id',
  'workflow_id',
];

const getSessionRuns = builtinTool({
  name: 'get_session_runs',
  tag: 'session',
  title: 'Read the runs of a session',
  description:
    'The runs of a session, oldest first, those in progress included; with run_id, one run in full.',
  annotations: { readOnlyHint: true },
  args: {
    session_id: z.string().meta({ description: 'The session.' }),
    run_id: optional(z.string(), 'Only this run, with its messages.'),
    session_type: optional(kind(), 'Checked only: each run has the form of its own kind.'),
    user_id: user,
    db_id: database,
    limit: pageSize(largestPage).default(largestPage),
    page,
  },
  output: {
    type: 'object',
    properties: { result: { type: 'array', items: { type: 'object', additionalProperties: true } } },
    required: ['result'],
  },
  async execute({ site, caller, format }, args) {
    assertMay(caller, { scope: 'sessions:read', params: {} });
    const { session_id: sessionId } = args;
    const space = await site.services.sessionRuns.in({ db_id: given(args.db_id) });
    await space.settle(sessionId);
    const scope = scopeNaming(caller, given(args.user_id));
    if ((await space.sessions.find(scope, sessionId)) === undefined) throw errors.sessionNotFound();
    const runId = given(args.run_id);
    const result: Record<string, unknown>[] = [];
    if (runId !== undefined) {
      const found = await space.run(sessionId, runId, false);
      if (found === undefined) throw errors.runNotFound(`Run ${runId} not found in session ${sessionId}`);
      result.push(await space.body(found.view, format, true));
    } else {
      const wanted = {
        created: boundsOf(undefined, undefined),
        withEvents: false,
        limit: Math.min(args.limit, largestPage),
        page: args.page,
      };
      let characters = 0;
      for await (const { view } of space.runs(sessionId, wanted)) {
        const run = shortened(await space.body(view, format));
        characters += JSON.stringify(run).length;
        if (characters > mostCharacters && result.length > 0) throw errors.resultTooLarge(mostCharacters);
        result.push(run);
      }
    }
    return { content: [textBlock(JSON.stringify(result))], structuredContent: { result }, isError: false };
  },
});

function shortened(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    listedFields.flatMap((name) => (body[name] == null ? [] : [[name, body[name]] as const])),
  );
}

export const sessionTools: readonly BuiltinTool[] = [getSessions, getSessionRuns];
