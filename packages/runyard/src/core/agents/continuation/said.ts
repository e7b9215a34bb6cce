import type { RunContext } from '../../runs/context.js';
import { inheritedAttempt } from '../../runs/run.js';
import type { AgentExecution } from '../execution.js';
import { runPreHooks } from '../hooks/hooks.js';
import { saidMessage } from '../transcript.js';
import { continueRecord, isUsersWord, saidKey } from './conversation.js';

/** Shows the model what the user said before this turn when the run went on; the pre-hooks look at it first. */
export async function hearUser(execution: AgentExecution, turn: number): Promise<void> {
  const { context, messages } = execution;
  for (const step of context.steps('continue')) {
    const { input, turn: before } = continueRecord(step);
    if (input === null || before !== turn) continue;
    if (isUsersWord(step)) {
      execution.input.content = input;
      await runPreHooks(execution, `${saidKey(step)}:`);
      execution.remembering.hear(execution.input.content, `${saidKey(step)}:`);
    }
    messages.push(saidMessage(step, context.steps('hook')));
  }
}

/**
 * Whether the run does not end with this turn although its model has answered: somebody has said something since, or
 * has asked to go on from an answer that another run gave.
 */
export function isAskedToGoOn(context: RunContext, turn: number): boolean {
  const isCopied = context.recorded(`model:${turn}`)?.attempt === inheritedAttempt;
  return context.steps('continue').some((step) => {
    if (continueRecord(step).turn !== turn + 1) return false;
    return isCopied || continueRecord(step).input !== null;
  });
}
