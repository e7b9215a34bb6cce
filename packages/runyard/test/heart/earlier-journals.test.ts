import { describe, expect, test } from 'vitest';
import { toolExecutionsOf } from '../../src/core/agents/tool-executions.js';
import { historyOf, messagesOf } from '../../src/core/agents/transcript.js';
import type { Run, StepKind, StepRecord } from '../../src/core/runs/run.js';
import { usageOf } from '../../src/core/runs/run-usage.js';
import { spansOf } from '../../src/core/traces/spans-of-run.js';
import { stepResultsOf } from '../../src/core/workflows/fold/workflow-fold.js';
import { workflowRequirementsOf } from '../../src/core/workflows/review/workflow-requirements.js';

/**
 * Journals as an earlier version wrote them, by hand: without the fields that came later (the ids of executors, what
 * decided, why a model stopped, citations, which attempt a question belongs to). They must stay readable.
 */
const run: Run = {
  runId: 'r1',
  kind: 'agent',
  componentId: 'helper',
  componentName: null,
  sessionId: 's1',
  userId: null,
  askers: [],
  parentRunId: null,
  model: 'small',
  modelProvider: 'Acme',
  input: { content: 'Hello', media: [], options: { stream: false } },
  createdAt: 1000,
  status: 'completed',
  result: { content: 'Sunny', contentType: 'str' },
  attempt: 1,
  leaseOwner: null,
  leaseExpiresAt: null,
  nextEventIndex: 9,
  updatedAt: 5000,
  wakeAt: null,
  lineage: null,
  traceParent: null,
  definition: null,
};

function journal(...rows: [key: string, kind: StepKind, output: string, input?: string][]): StepRecord[] {
  return rows.map(([key, kind, output, input = 'null'], seq) => ({
    runId: 'r1',
    seq,
    key,
    kind,
    name: kind === 'wait' ? 'confirmation' : 'look',
    parentKey: null,
    status: output === 'null' ? 'running' : 'completed',
    attempt: 1,
    input: JSON.parse(input),
    output: JSON.parse(output),
    error: null,
    startedAt: 1000 + seq,
    endedAt: 1001 + seq,
  }));
}

const usage = '"usage":{"inputTokens":3,"outputTokens":2,"totalTokens":5}';
const calling = `{"content":"","toolCalls":[{"id":"c1","name":"look","arguments":"{\\"at\\":\\"sky\\"}"}],"finishReason":"tool_use","timeToFirstToken":0.1,${usage}}`;
const agentJournal = journal(
  ['context', 'context', '{"system":"Be kind.","user":"Hello","history":[]}'],
  ['pre-hook:0', 'hook', '{"outcome":"passed"}'],
  ['model:0', 'model', calling, '{"adapter":"OpenAIChat","tools":["look"]}'],
  [
    'wait:tool:0:0',
    'wait',
    '{"answer":"confirmed","confirmed":true}',
    '{"id":"q1","kind":"confirmation","callId":"c1","toolName":"look","args":{"at":"sky"},"createdAt":1003}',
  ],
  ['tool:0:0', 'tool', '{"callId":"c1","content":"blue","error":false,"args":{"at":"sky"},"listed":true}'],
  ['continue:2', 'continue', '{"turn":1,"input":"And?","options":{}}'],
  ['model:1', 'model', `{"content":"Sunny","finishReason":"stop","timeToFirstToken":0.2,${usage}}`],
  [
    'memory',
    'auxiliary',
    `{"content":"","finishReason":"stop","timeToFirstToken":0,"role":"memory_model","model":{"id":"small","provider":"Acme"},${usage}}`,
  ],
  ['memory:changes', 'memory', '{"changes":[{"kind":"add","memoryId":"m1"}]}'],
);

const node = (name: string) =>
  `{"node":"${name}","step_id":"s","index":0,"executor":${name === 'Step' ? '{"type":"function","name":"look"}' : 'null'}}`;
const workflowJournal = journal(
  ['node:0', 'step', '{"children":["node:0.0"],"branch":"if","stop":false}', node('Condition')],
  ['node:0:when', 'decision', '{"decided":true}'],
  ['node:0.0', 'step', '{"content":"blue","success":true,"error":null,"stop":false}', node('Step')],
);

describe('a journal of an earlier version', () => {
  test('is folded into messages, tools, usage and spans', () => {
    expect(messagesOf(run, agentJournal).map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'system: Be kind.',
      'user: Hello',
      'assistant: ',
      'tool: blue',
      'user: And?',
      'assistant: Sunny',
    ]);
    expect(toolExecutionsOf(agentJournal)).toMatchObject([
      { callId: 'c1', result: 'blue', requirements: [{ answer: { confirmed: true } }] },
    ]);
    expect(usageOf(run, agentJournal).models).toMatchObject([
      { purpose: 'model', totalTokens: 10 },
      { purpose: 'memory_model', totalTokens: 5 },
    ]);
    expect(historyOf([{ run, steps: agentJournal }])).toHaveLength(5);
    expect(
      spansOf({ run, steps: agentJournal }).map(({ attributes }) => Object.keys(attributes)),
    ).not.toEqual([]);
  });

  test('of a workflow too', () => {
    const flow: Run = { ...run, kind: 'workflow' };
    expect(stepResultsOf(flow, workflowJournal)).toMatchObject([
      { step_type: 'Condition', steps: [{ content: 'blue', executor_name: 'look' }] },
    ]);
    expect(workflowRequirementsOf(flow, workflowJournal).open).toEqual([]);
  });
});

describe('a damaged journal', () => {
  test('is refused with the run, the step and the field', () => {
    const damaged = journal(
      ['context', 'context', '{"system":null,"user":"Hello","history":[]}'],
      ['model:0', 'model', calling.replace('"arguments"', '"argument"')],
    );
    expect(() => messagesOf(run, damaged)).toThrow(
      "Step 'model:0' of run 'r1' cannot be read: its record 'model answer' is damaged at 'toolCalls.0.arguments'.",
    );
    const cut = journal(['node:0', 'step', '{"children":["node:0.0"]}', node('Condition')]);
    expect(() => stepResultsOf({ ...run, kind: 'workflow' }, cut)).toThrow(/'node:0' of run 'r1'.*damaged/);
  });

  test('and a record of a newer version by its name', () => {
    const newer = journal([
      'context',
      'context',
      '{"record_version":2,"system":[],"user":"Hello","history":[]}',
    ]);
    expect(() => messagesOf(run, newer)).toThrow("its record 'context' has version 2");
  });
});
