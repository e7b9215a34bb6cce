import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { errorCode } from '../../../../core/errors/error-code.js';
import { errors } from '../../../../core/errors/errors.js';
import type { Json, JsonObject } from '../../../../core/json.js';
import { identifier } from '../../../../platform/http/request/fields.js';
import { statusIn } from '../../../../platform/http/response/wire-format.js';
import { answersForm, type NamedAnswer } from '../../../common/answers/paused-run.js';
import type { SimpleAnswer } from '../../../common/answers/question.js';
import { askPerson, showsForms } from '../elicit.js';
import { builtinTool, optional, type ToolRequest } from '../mcp-tool.js';
import { RunProblem } from '../tool-errors.js';
import { Progress } from './progress.js';
import { assertMayRun, componentArguments, given, namedComponent, sessionArgument } from './run-place.js';
import { runResult } from './run-result.js';
import { followed, pausedRun, runToRest } from './run-to-rest.js';
import { type FoundRun, foundUnderway, type RunPlace, underway } from './wait-for-run.js';

const json = () => z.custom<Json>().meta({ type: ['object', 'array', 'string', 'number', 'boolean'] });
const object = () => z.record(z.string(), z.custom<Json>());

/** How many answers one call may bring. */
const mostAnswers = 1_000;

const answerFields = {
  confirmed: optional(z.boolean(), 'true: the call or step may be executed; false: it may not.'),
  note: optional(z.string(), 'With confirmed=false: why not. The agent reads it.'),
  values: optional(object(), 'What is filled in, by the names in user_input_schema.'),
  selected: optional(
    z.array(z.union([z.string(), z.array(z.string())])).max(mostAnswers),
    'The chosen labels: of the only question, or a list for each question.',
  ),
  result: optional(json(), 'The result of a call that was executed outside.'),
  decision: optional(z.enum(['retry', 'skip']), 'What becomes of a step that failed.'),
};

type AnswerArguments = {
  readonly [Name in keyof typeof answerFields]: z.output<(typeof answerFields)[Name]>;
};

export const continueRunTool = builtinTool({
  name: 'continue_run',
  tag: 'core',
  title: 'Continue a run',
  description:
    'Continues a paused run with the answers to what it waits for: in simple fields (confirmed, values, selected, ' +
    'result), in `answers` if it waits for several things, or as its `requirements` with the answers filled in. Calls ' +
    'that need an approval are decided on by an administrator, not here.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  args: {
    run_id: z.string().meta({ description: 'The run to continue.' }),
    session_id: sessionArgument,
    ...componentArguments,
    requirements: optional(
      z.array(object()).max(mostAnswers),
      'The requirements of the paused run with the answers filled in.',
    ),
    user_id: optional(identifier(), 'If given, the run must belong to this user or to none.'),
    ...answerFields,
    answers: optional(
      z
        .array(
          z.strictObject({
            id: z.string().meta({ description: 'The tool_call_id or step_id that is answered.' }),
            ...answerFields,
          }),
        )
        .max(mostAnswers),
      'Answers in simple fields, one for each thing that the run waits for.',
    ),
  },
  async execute(request, args) {
    const { caller } = request;
    const component = namedComponent(args);
    assertMayRun(caller, component);
    const sessionId = given(args.session_id);
    const place = { ...component, runId: args.run_id, sessionId };
    return continued(request, place, {
      user: given(args.user_id),
      requirements: args.requirements,
      answers: [
        ...(hasAnswer(args) ? [simpleAnswer(args)] : []),
        ...(args.answers ?? []).map((one) => ({ ...simpleAnswer(one), id: one.id })),
      ],
    });
  },
});

interface Given {
  readonly user: string | undefined;
  readonly requirements: readonly JsonObject[] | null;
  readonly answers: readonly NamedAnswer[];
}

async function continued(request: ToolRequest, place: RunPlace, given: Given): Promise<CallToolResult> {
  const { caller, call, site, format } = request;
  const { runs } = site.services;
  const found = await runs.follow(caller, place, -1);
  if (found === undefined) throw unknownRun(request, place);
  const progress = await Progress.of(request, place, call.isRepeated ? found.run.nextEventIndex + 1 : 0);
  const { status, run } = found;
  if (call.isRepeated) return continuedAgain(request, found, given, progress);
  // what has ended stays as it is; a run of an agent or team that failed is tried again, as everywhere
  const isRetried = status === 'error' && place.kind !== 'workflow';
  if (status !== 'paused' && !isRetried) {
    const problem = { run_id: run.runId, session_id: run.sessionId, status: statusIn(format, status) };
    throw new RunProblem(errors.notPaused(status).message, problem);
  }
  const answers = status === 'paused' ? await answersFor(request, place, given) : {};
  const form = { ...followed, ...answers, user_id: given.user, session_id: place.sessionId };
  const started = await runs.continueRun(caller, place, form);
  await progress?.tell(`Continuing run ${place.runId}`);
  return runResult(request, await runToRest(request, underway(runs, started), progress));
}

/**
 * The process that began this request may have continued the run, which may wait for something else by now: only answers
 * that name their requirement count. What is left open is in the result, and the client answers it in a new request.
 */
async function continuedAgain(
  request: ToolRequest,
  { run, status }: FoundRun,
  { requirements, answers, user }: Given,
  progress: Progress | undefined,
): Promise<CallToolResult> {
  const { caller, site } = request;
  const { runs } = site.services;
  const { kind, componentId, runId } = run;
  const place = { kind, componentId, runId };
  if (status === 'paused' && answers.length === 0) {
    const form = { ...followed, ...(requirements && answersForm(kind, requirements)), user_id: user };
    try {
      const started = await runs.continueRun(caller, place, form);
      return runResult(request, await runToRest(request, underway(runs, started), progress));
    } catch (error) {
      if (!passedOver.has(errorCode(error) ?? '')) throw error;
    }
  }
  const present = await runs.follow(caller, place, run.nextEventIndex - 1);
  if (present === undefined) throw unknownRun(request, place);
  return runResult(request, await runToRest(request, foundUnderway(request, present), progress));
}

const passedOver = new Set(['unresolved_requirements', 'answered_before', 'cannot_continue']);

/** Nobody else's run is there for a caller who sees only their own. */
function unknownRun({ caller, format }: ToolRequest, { runId }: RunPlace): RunProblem {
  const text = caller.scope.kind === 'all' ? `No runs found for run ID ${runId}` : 'Run not found';
  return new RunProblem(text, { run_id: runId, session_id: null, status: statusIn(format, 'error') });
}

/** The fields of the form that bring the answers. Without any, the person at the client is asked. */
async function answersFor(request: ToolRequest, place: RunPlace, { requirements, answers }: Given) {
  const { site, caller } = request;
  if (requirements !== null && answers.length > 0)
    throw errors.invalidContinue('Send either requirements, or answers in simple fields.');
  if (requirements !== null) return answersForm(place.kind, requirements);
  const paused = await pausedRun(request, await site.services.runs.get(caller, place));
  if (answers.length > 0) {
    paused.put(answers);
    return paused.form();
  }
  return showsForms(request) && (await askPerson(request, paused)) ? paused.form() : {};
}

function hasAnswer(args: AnswerArguments): boolean {
  return Object.keys(simpleAnswer(args)).length > 0;
}

function simpleAnswer({
  confirmed,
  note,
  values,
  selected,
  result,
  decision,
}: AnswerArguments): SimpleAnswer {
  return {
    ...(confirmed !== null && { confirmed }),
    ...(note !== null && { note }),
    ...(values !== null && { values }),
    ...(selected !== null && { selected }),
    ...(result !== null && { result }),
    ...(decision !== null && { decision }),
  };
}
