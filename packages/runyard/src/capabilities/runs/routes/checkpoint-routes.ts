import { z } from 'zod';
import { lazySchema } from '../../../core/schemas/lazy-schema.js';
import { formInteger } from '../../../platform/http/request/fields.js';
import { wireFormatHeaders, wireFormatOf } from '../../../platform/http/response/wire-format.js';
import { defineRoute } from '../../../platform/http/route.js';
import { checkpointBodyOf } from '../bodies/checkpoint-body.js';
import { checkpointsBody, forkedSessionBody } from '../bodies/response-schema.js';
import { messageBodiesOf } from '../bodies/run-body.js';
import { forkQuery, runQuery } from '../schema.js';
import {
  componentField,
  componentIn,
  type RunKindFacts,
  type RunRoute,
  type RunServices,
  readScopes,
  runField,
  runParams,
  runScope,
  runsPath,
} from './route-kit.js';

export function listCheckpoints(facts: RunKindFacts): RunRoute {
  const { kind } = facts;
  return defineRoute({
    method: 'GET',
    path: `${runsPath(facts)}/:run_id/checkpoints`,
    operationId: `list_${kind}_run_checkpoints`,
    scope: readScopes(facts),
    tag: facts.tag,
    summary: 'List the checkpoints of a run',
    description:
      'Points in the conversation from which the run can continue (continue_from): after each round of tool calls, and at the end.',
    params: runParams(facts),
    query: runQuery,
    headers: wireFormatHeaders,
    responses: { 200: checkpointsBody },
    handler: async (services: RunServices, { params, query, caller, headers }) => {
      const place = { kind, ...params, sessionId: query.session_id };
      const { run, checkpoints } = await services.runs.checkpoints(caller, place);
      const format = wireFormatOf(services.settings, headers);
      return {
        run_id: run.runId,
        session_id: run.sessionId,
        checkpoints: checkpoints.map((checkpoint) => checkpointBodyOf(run, checkpoint, format)),
      };
    },
  });
}

export function getCheckpoint(facts: RunKindFacts, checkpoint: z.ZodType): RunRoute {
  const { kind } = facts;
  return defineRoute({
    method: 'GET',
    path: `${runsPath(facts)}/:run_id/checkpoints/:message_index`,
    operationId: `get_${kind}_run_checkpoint`,
    scope: readScopes(facts),
    tag: facts.tag,
    summary: 'Get a run as it was at a checkpoint',
    description:
      'The run with at most message_index messages; fewer if a tool call would otherwise lack its result. The stored run does not change.',
    params: checkpointParams(facts),
    query: runQuery,
    headers: wireFormatHeaders,
    responses: { 200: checkpoint },
    handler: async (services: RunServices, { params, query, caller, headers }) => {
      const { messageIndex, ...run } = params;
      const place = { kind, ...run, sessionId: query.session_id };
      const { view, checkpoint } = await services.runs.checkpoint(caller, place, messageIndex);
      const format = wireFormatOf(services.settings, headers);
      return {
        checkpoint: checkpointBodyOf(view.run, checkpoint, format),
        snapshot: { ...(await services.runs.body(view, format)), messages: messageBodiesOf(view) },
      };
    },
  });
}

export function forkSession(facts: RunKindFacts): RunRoute {
  const { kind, plural, idName } = facts;
  return defineRoute({
    method: 'POST',
    path: `/${plural}/:${idName}/sessions/:session_id/fork`,
    operationId: `fork_${kind}_session`,
    scope: runScope(facts),
    tag: facts.tag,
    summary: 'Copy a session',
    description:
      'Copies a session with its state and its finished runs. Later changes to one do not affect the other.',
    params: sessionParams(facts),
    query: forkQuery,
    responses: { 200: forkedSessionBody },
    handler: async ({ runs }: RunServices, { params, query, caller }) => {
      const place = { kind, ...params, userId: query.user_id, beforeRunId: query.before_run_id };
      return {
        session_id: await runs.forkSession(caller, place),
        forked_from_session_id: params.sessionId,
      };
    },
  });
}

function checkpointParams(facts: RunKindFacts) {
  return lazySchema(() =>
    z
      .object({
        ...componentField(facts),
        ...runField(),
        message_index: formInteger().meta({ description: 'How many messages to keep.' }),
      })
      .transform((params) => ({
        componentId: componentIn(facts, params),
        runId: params.run_id,
        messageIndex: params.message_index,
      })),
  );
}

function sessionParams(facts: RunKindFacts) {
  return lazySchema(() =>
    z
      .object({
        ...componentField(facts),
        session_id: z.string().meta({ description: 'The identifier of the session.' }),
      })
      .transform((params) => ({
        componentId: componentIn(facts, params),
        sessionId: params.session_id,
      })),
  );
}
