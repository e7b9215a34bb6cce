import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { errorCode } from '../../../../core/errors/error-code.js';
import type { Json, JsonObject } from '../../../../core/json.js';
import type { RunKind } from '../../../../core/runs/run.js';
import { identifier } from '../../../../platform/http/request/fields.js';
import { statusIn } from '../../../../platform/http/response/wire-format.js';
import { factoryInputField } from '../../../common/factory-input.js';
import { type BuiltinTool, builtinTool, optional, type ToolRequest, textBlock } from '../mcp-tool.js';
import { Progress } from './progress.js';
import { assertMayRun, type ComponentPlace, given } from './run-place.js';
import { runResult } from './run-result.js';
import { followed, runToRest } from './run-to-rest.js';
import { foundUnderway, type RunUnderway, type StartedRun, underway } from './wait-for-run.js';

interface RunArguments {
  readonly message: string;
  readonly user_id: string | null;
  readonly session_id: string | null;
  readonly background: boolean;
  readonly factory_input: JsonObject | null;
}

const sharedArguments = {
  message: z.string().meta({ description: 'The message or the input of the run.' }),
  user_id: optional(
    identifier(),
    'The user that the run belongs to. Ignored for callers whom a token names.',
  ),
  session_id: optional(
    identifier(),
    'The session to continue. If left out: a new one, whose id is in the result.',
  ),
  background: z.boolean().default(false).meta({
    description: 'true: returns the run_id at once, and the run continues.',
  }),
  factory_input: optional(
    z.record(z.string(), z.custom<Json>()),
    'For what is built for each run (is_factory): a value that fits its factory_input_schema.',
  ),
};

const annotations = { readOnlyHint: false, openWorldHint: true };

const resultText =
  'The result has the answer, and run_id, session_id and status (completed, paused, error, cancelled). A paused run ' +
  'waits for what `requirements` name: answer with continue_run.';

const runAgent = builtinTool({
  name: 'run_agent',
  tag: 'core',
  title: 'Run an agent',
  description: `Sends a message to an agent. get_agentos_config lists the agents. ${resultText}`,
  annotations,
  args: { agent_id: z.string().meta({ description: 'The agent to run.' }), ...sharedArguments },
  execute: (request, { agent_id: componentId, ...args }) => run(request, 'agent', componentId, args),
});

const runTeam = builtinTool({
  name: 'run_team',
  tag: 'core',
  title: 'Run a team',
  description: `Sends a message to a team of agents. get_agentos_config lists the teams. ${resultText}`,
  annotations,
  args: { team_id: z.string().meta({ description: 'The team to run.' }), ...sharedArguments },
  execute: (request, { team_id: componentId, ...args }) => run(request, 'team', componentId, args),
});

const runWorkflow = builtinTool({
  name: 'run_workflow',
  tag: 'core',
  title: 'Run a workflow',
  description: `Runs a workflow with an input. get_agentos_config lists the workflows. ${resultText}`,
  annotations,
  args: { workflow_id: z.string().meta({ description: 'The workflow to run.' }), ...sharedArguments },
  execute: (request, { workflow_id: componentId, ...args }) => run(request, 'workflow', componentId, args),
});

export const runTools: readonly BuiltinTool[] = [runAgent, runTeam, runWorkflow];

async function run(
  request: ToolRequest,
  kind: RunKind,
  componentId: string,
  args: RunArguments,
): Promise<CallToolResult> {
  const place = { kind, componentId };
  assertMayRun(request.caller, place);
  const earlier = request.call.isRepeated ? await resumed(request, place) : undefined;
  if (args.background) return acknowledged(request, earlier ?? (await started(request, place, args)));
  if (earlier !== undefined) return rested(request, earlier);
  const begun = await started(request, place, args);
  if (!('handle' in begun)) return rested(request, begun);
  const progress = await Progress.of(request, place);
  await progress?.tell(startedText(begun));
  const view = await runToRest(request, underway(request.site.services.runs, begun), progress);
  return runResult(request, view);
}

/** The run that an earlier dispatch of this request began, and how far its events are. */
type ResumedRun = RunUnderway & {
  readonly seen: number;
  readonly sessionId: string;
  readonly status: string;
};

async function resumed(request: ToolRequest, place: ComponentPlace): Promise<ResumedRun | undefined> {
  const { site, caller, call } = request;
  const { runs } = site.services;
  const runPlace = { ...place, runId: call.runId };
  const { run: { nextEventIndex: seen } = { nextEventIndex: 0 } } =
    (await runs.follow(caller, runPlace, -1)) ?? {};
  // the client was notified of what happened before
  const found = await runs.follow(caller, runPlace, seen - 1);
  if (found === undefined) return undefined;
  return { ...foundUnderway(request, found), seen, sessionId: found.run.sessionId, status: found.status };
}

async function rested(request: ToolRequest, earlier: ResumedRun): Promise<CallToolResult> {
  // messages count on: an event was at most one message
  const progress = await Progress.of(request, earlier.place, earlier.seen + 1);
  return runResult(request, await runToRest(request, earlier, progress));
}

async function started(
  request: ToolRequest,
  place: ComponentPlace,
  args: RunArguments,
): Promise<StartedRun | ResumedRun> {
  const { call, caller, context, site } = request;
  const { background, message } = args;
  const wantsProgress = context.mcpReq._meta?.progressToken !== undefined;
  const form = {
    ...followed,
    message,
    background,
    // what a cancelled run has said so far is kept when its model streams
    stream: wantsProgress && !background,
    user_id: given(args.user_id),
    session_id: given(args.session_id),
    ...factoryInputField(args.factory_input),
    ...(call.isRepeated && { run_id: call.runId }),
  };
  const disconnected = () => context.mcpReq.signal;
  const formContext = call.isRepeated ? { disconnected } : { newRunId: call.runId, disconnected };
  try {
    return await site.services.runs.create(caller, place, form, formContext);
  } catch (error) {
    // another process dispatched the same request
    const begun =
      call.isRepeated && errorCode(error) === 'run_exists' ? await resumed(request, place) : undefined;
    if (begun === undefined) throw error;
    return begun;
  }
}

function acknowledged({ format, site }: ToolRequest, run: StartedRun | ResumedRun): CallToolResult {
  const { runId, sessionId, status } =
    'handle' in run
      ? { ...run.handle.run, status: run.status }
      : { runId: run.place.runId, sessionId: run.sessionId, status: run.status };
  const reader = site.config.tags.has('extra') ? 'get_run' : 'get_session_runs';
  const text = `Run ${runId} continues in the background. Read it with ${reader}.`;
  return {
    content: [textBlock(text)],
    structuredContent: { run_id: runId, session_id: sessionId, status: statusIn(format, status) },
    isError: false,
  };
}

function startedText({ handle: { run } }: StartedRun): string {
  if (run.kind === 'workflow') return 'Workflow started';
  const kind = run.kind === 'team' ? 'Team' : 'Agent';
  return `${kind} ${run.componentName ?? run.componentId} started`;
}
