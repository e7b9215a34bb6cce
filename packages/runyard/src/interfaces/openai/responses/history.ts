import { historyMessages } from '../../../core/agents/transcript.js';
import type { CallerMessage } from '../../../core/runs/caller-input.js';
import type { Run, StepRecord } from '../../../core/runs/run.js';
import type { OpenaiCall } from '../routes.js';

interface RunJournal {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
}

/** How many runs of a session a response goes back. */
const mostRuns = 100;

/** What a conversation said up to a run of it, that run included. */
export async function historyUntil(call: OpenaiCall, last: RunJournal): Promise<CallerMessage[]> {
  const { services, request } = call;
  const { kind, componentId, sessionId, createdAt, runId } = last.run;
  if (kind === 'workflow') return [];
  const parts = [saidIn(last)];
  let given = givenTo(last.run);
  if (given === undefined) {
    const page = await services.runs.page(
      request.caller,
      { kind, componentId, sessionId },
      { limit: mostRuns, before: { createdAt, runId }, status: 'completed' },
    );
    for await (const view of page.runs) {
      parts.unshift(saidIn(view));
      given = givenTo(view.run);
      // it has all that was said before it
      if (given !== undefined) break;
    }
  }
  return [...(given ?? []), ...parts.flat()];
}

/** The conversation that a run was given; undefined for one that saw the history of its session. */
export function givenTo(run: Run): readonly CallerMessage[] | undefined {
  return run.input.options.callerInput?.conversation?.messages;
}

/** Calls that a run still waits for, or was cancelled with, are left out: no model accepts them without a result. */
function saidIn({ run, steps }: RunJournal): CallerMessage[] {
  const messages = historyMessages(run, steps);
  const answered = new Set(messages.map(({ toolCallId }) => toolCallId));
  return messages.flatMap((message): CallerMessage[] => {
    const { role, content, toolCallId } = message;
    if (role === 'tool') return toolCallId === undefined ? [] : [{ role, content, toolCallId }];
    if (role === 'user') return [{ role, content }];
    if (role !== 'assistant') return [];
    const toolCalls = (message.toolCalls ?? []).filter(({ id }) => answered.has(id));
    if (content === '' && toolCalls.length === 0) return [];
    return [{ role, content, ...(toolCalls.length > 0 && { toolCalls }) }];
  });
}

type SessionPlace = Pick<Run, 'kind' | 'componentId' | 'sessionId'>;

/** The runs of a component in a session, newest first. A session that no run was in has no component. */
export async function* runsIn(
  { services, request }: OpenaiCall,
  { kind, componentId, sessionId }: SessionPlace,
  limit: number,
): AsyncGenerator<RunJournal> {
  if (componentId === '') return;
  const place = { kind, componentId, sessionId };
  yield* (await services.runs.page(request.caller, place, { limit })).runs;
}

/** The newest run of a component in a session; undefined for a session without any. */
export async function newestOf(call: OpenaiCall, place: SessionPlace): Promise<RunJournal | undefined> {
  for await (const view of runsIn(call, place, 1)) return view;
  return undefined;
}
