import { type Tool, tool } from 'runyard';
import { type ToolFacts, toolFacts } from '../plan.js';
import { leaveTraces } from './traces.js';

const nothing = { type: 'object', properties: {} } as const;
const amount = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] } as const;
const question = {
  question: 'Which one?',
  header: null,
  multiSelect: false,
  options: ['left', 'right'].map((label) => ({ label, description: null })),
};

function toolOf([name, facts]: [string, ToolFacts]): Tool {
  const { policy, gate, approval } = facts;
  const base = { name, description: 'Leaves a trace', inputSchema: nothing, onUnknownOutcome: policy };
  if (gate === 'external_execution') return tool({ ...base, externalExecution: true });
  if (gate === 'user_feedback') return tool({ ...base, askPerson: () => ({ questions: [question] }) });
  return tool({
    ...base,
    inputSchema: gate === 'user_input' ? amount : nothing,
    sideEffects: policy !== 'retry',
    requiresConfirmation: gate === 'confirmation',
    requiresUserInput: gate === 'user_input',
    ...(approval !== undefined && { approval }),
    execute: async (_args, { toolCallId: call, runId, idempotencyKey, signal }) => {
      await leaveTraces({ name, call, runId, idempotencyKey, signal });
      return `${name} did it`;
    },
  });
}

export const tools = Object.entries(toolFacts).map(toolOf);
