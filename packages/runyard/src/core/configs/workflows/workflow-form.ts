import { anyOf, count, flag, json, none, text, word } from '../../options/kinds.js';
import { priorities } from '../../runs/leases/priority.js';
import { conversationLimitShape } from '../../runs/limits/limit-options.js';
import type { WorkflowLimits } from '../../runs/limits/run-limits.js';
import type { WorkflowNode } from '../../workflows/definition/node.js';
import type { WorkflowSettings } from '../../workflows/workflow-options.js';
import { ownId } from '../agent-form.js';
import {
  type ConfigForm,
  type ConfigValue,
  fixed,
  key,
  neededToBuild,
  nullable,
  objectValue,
  plain,
} from '../config-keys.js';
import { database } from '../values/database-value.js';
import { functionName, nameIn } from '../values/named-values.js';
import { inputSchema } from '../values/schema-value.js';
import { readSteps, writeSteps } from './node-forms.js';

/** Steps, or the name of a function that is the whole workflow. */
const steps: ConfigValue = {
  read: (value, at) => (typeof value === 'string' ? functionName.read(value, at) : readSteps(value, at)),
  write: (setting, at) =>
    typeof setting === 'function'
      ? functionName.write(setting, at)
      : // the nodes that a workflow made of its entries
        writeSteps(setting as readonly WorkflowNode[], at),
};

/** The agent in front of a workflow. */
const frontAgent: ConfigValue = {
  read: (value, at) => {
    const id = nameIn(value, at);
    if (id === undefined) return undefined;
    return at.component({ kind: 'agent', id, linkKind: 'step_agent', linkKey: frontLink });
  },
  // the setting is an agent
  write: (setting) => (setting as { readonly id: string }).id,
};

/** No step has this id: those of steps come first. */
const frontLink = '#agent';

const limits: ConfigForm<WorkflowLimits> = {
  what: 'the limits of a workflow',
  keys: {
    steps: nullable('steps', anyOf(count(1), none)),
    toolCalls: nullable('tool_calls', conversationLimitShape.toolCalls),
    tokens: nullable('tokens', conversationLimitShape.tokens),
    cost: nullable('cost', conversationLimitShape.cost),
    timeMs: nullable('time_ms', conversationLimitShape.timeMs),
    bytes: nullable('bytes', conversationLimitShape.bytes),
  },
};

/** The keys of a workflow. */
export const workflowForm: ConfigForm<WorkflowSettings> = {
  what: 'a workflow',
  keys: {
    id: ownId,
    name: plain('name', text),
    description: plain('description', text),
    steps: neededToBuild(key('steps', steps), 'a list of steps, or the name of a function'),
    inputSchema: key('input_schema', inputSchema),
    sessionState: plain('session_state', json),
    addHistoryToSteps: plain('add_workflow_history_to_steps', flag),
    numHistoryRuns: plain('num_history_runs', count(1)),
    agent: key('agent_id', frontAgent),
    database: key('db', database),
    metadata: plain('metadata', json),
    maxParallel: plain('max_parallel', count(1)),
    limits: key('limits', fixed(objectValue(limits))),
    priority: plain('priority', word(...priorities)),
  },
  without: {
    user_id: [],
    session_id: [],
    overwrite_db_session_state: [false],
    stream: [],
    stream_events: [false],
    stream_executor_events: [true],
    store_events: [false],
    store_executor_outputs: [true],
    dependencies: [{}],
    add_dependencies_to_context: [false],
    add_session_state_to_context: [false],
    debug_mode: [false],
    // nothing is ever sent
    telemetry: [true, false],
  },
};
