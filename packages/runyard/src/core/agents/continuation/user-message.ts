import type { RunContext } from '../../runs/context.js';
import { inheritedAttempt, type StepRecord } from '../../runs/run.js';
import type { AgentExecution, StageWork } from '../execution.js';
import { runPreHooks } from '../hooks/hooks.js';
import { searchForContext } from '../knowledge/knowledge-in-context.js';
import { userMessageOf } from '../transcript.js';
import { continueRecordOf, isUserMessage, userMessageKey } from './conversation.js';

/** Adds the messages of the user that came before this turn with requests to continue; the pre-hooks see them first. */
export function addUserMessages(execution: AgentExecution, turn: number): StageWork {
  const requests = execution.context.steps('continue');
  return requests.length === 0 ? undefined : addThose(execution, requests, turn);
}

async function addThose(
  execution: AgentExecution,
  requests: readonly StepRecord[],
  turn: number,
): Promise<void> {
  const { context, messages } = execution;
  for (const step of requests) {
    const { input, turn: before } = continueRecordOf(step);
    if (input === null || before !== turn) continue;
    if (isUserMessage(step)) {
      execution.input.content = input;
      await runPreHooks(execution, `${userMessageKey(step)}:`);
      await searchForContext(execution, `${userMessageKey(step)}:`);
      execution.remembering.receive(execution.input.content, `${userMessageKey(step)}:`);
    }
    messages.push(userMessageOf(step, [...context.steps('hook'), ...context.steps('knowledge')]));
  }
}

/**
 * Whether the run does not end with this turn although its model has answered: the user has sent a message since, or a
 * request continues from an answer that another run gave.
 */
export function isContinuedAfter(context: RunContext, turn: number): boolean {
  const isCopied = context.recorded(`model:${turn}`)?.attempt === inheritedAttempt;
  return context.steps('continue').some((step) => {
    if (continueRecordOf(step).turn !== turn + 1) return false;
    return isCopied || continueRecordOf(step).input !== null;
  });
}
