import { z } from 'zod';
import { errors } from '../../../../core/errors/errors.js';
import { mostResults } from '../../../../core/knowledge/knowledge-options.js';
import { assertMay } from '../../../../platform/auth/authenticator.js';
import { largestPage, pageOf } from '../../../../platform/http/request/pagination.js';
import { type BuiltinTool, builtinTool, objectResult, optional } from '../mcp-tool.js';
import {
  assertMayReadRun,
  componentArguments,
  given,
  namedComponent,
  sessionArgument,
} from '../runs/run-place.js';
import { presentRun } from '../runs/run-result.js';
import { foundOf, readKnowledge } from './knowledge.js';

const getRun = builtinTool({
  name: 'get_run',
  tag: 'extra',
  title: 'Read a run',
  description: 'The status and the answer of a run, and what it waits for. For runs in the background.',
  annotations: { readOnlyHint: true },
  args: {
    run_id: z.string().meta({ description: 'The run.' }),
    session_id: sessionArgument,
    ...componentArguments,
  },
  async execute(request, args) {
    const { site, caller } = request;
    const component = namedComponent(args);
    assertMayReadRun(caller, component);
    const place = { ...component, runId: args.run_id, sessionId: given(args.session_id) };
    const { runs } = site.services;
    if ((await runs.follow(caller, place, -1)) === undefined) throw errors.runNotFound();
    return presentRun(request, await runs.get(caller, place));
  },
});

const listApprovals = builtinTool({
  name: 'list_approvals',
  tag: 'extra',
  title: 'List approvals',
  description: 'Tool calls that wait for the decision of an administrator, or have one, newest first.',
  annotations: { readOnlyHint: true },
  args: {
    status: z
      .enum(['pending', 'approved', 'rejected', 'expired', 'cancelled'])
      .nullable()
      .default('pending')
      .meta({ description: 'Only approvals in this state; null: in any.' }),
    run_id: optional(z.string(), 'Only approvals of this run.'),
    user_id: optional(z.string(), 'Only approvals that this user requested.'),
    limit: z.int().min(1).max(largestPage).default(20),
    page: z.int().min(1).default(1),
  },
  output: { type: 'object', additionalProperties: true },
  async execute({ site, caller, format }, args) {
    assertMay(caller, { scope: 'approvals:read', params: {} });
    const { approvals } = site.services;
    const filter = {
      status: args.status ?? undefined,
      runId: given(args.run_id),
      userId: given(args.user_id),
    };
    const { items, total } = await approvals.list(caller, filter, args);
    return objectResult(
      pageOf(
        items.map((approval) => approvals.body(approval, format)),
        args,
        total,
      ),
    );
  },
});

const searchKnowledge = builtinTool({
  name: 'search_knowledge',
  tag: 'extra',
  title: 'Search the knowledge',
  description: 'The passages of a knowledge base that fit a query best.',
  annotations: { readOnlyHint: true },
  args: {
    query: z.string().max(100_000).meta({ description: 'What to search for.' }),
    knowledge_id: optional(z.string(), 'The knowledge base, if the service has several.'),
    max_results: optional(z.int().min(1).max(mostResults), 'The most passages.'),
  },
  output: { type: 'object', additionalProperties: true },
  async execute(request, args) {
    assertMay(request.caller, readKnowledge);
    const { documents } = await request.site.services.knowledge.search(
      request.caller,
      { query: args.query, knowledge_id: given(args.knowledge_id) ?? null, max_results: args.max_results },
      request.context.mcpReq.signal,
    );
    return objectResult({ data: documents.map(foundOf) });
  },
});

export const extraTools: readonly BuiltinTool[] = [getRun, listApprovals, searchKnowledge];
