import { modelCallRecord } from '../agents/journal-records.js';
import { read, readIf } from '../runs/journal/codec.js';
import type { Run, StepRecord } from '../runs/run.js';
import { isTopLevel, nodeInput } from '../workflows/journal-records.js';
import { attributesOf, contentAttributes } from './attributes.js';
import { conventionalProvider } from './model-names.js';
import type { SpanAttributes, SpanKind } from './span.js';
import type { WorkflowFacts } from './trace-source.js';
import type { TracedRun } from './traced-run.js';

export const runKinds = { agent: 'AGENT', team: 'TEAM', workflow: 'WORKFLOW' } as const satisfies Record<
  Run['kind'],
  SpanKind
>;

/** The attributes of the span of a run; `brief` as in `TraceSource`. */
export function runAttributes(
  traced: TracedRun,
  workflow: WorkflowFacts | undefined,
  brief: boolean,
): SpanAttributes {
  const { run } = traced;
  return {
    'agno.run.id': run.runId,
    ...(!brief && nodeAttributes(run)),
    ...(run.kind === 'workflow' && workflowAttributes(traced, workflow)),
    ...(run.kind !== 'workflow' && !brief && agentAttributes(traced)),
    ...contentAttributes('input', run.input.content),
    ...(run.result !== null &&
      run.result.error === undefined &&
      contentAttributes('output', run.result.content)),
  };
}

function nodeAttributes({ componentId, componentName, input }: Run): SpanAttributes {
  const { metadata } = input.options;
  const hasMetadata = metadata !== undefined && Object.keys(metadata).length > 0;
  return attributesOf({
    'graph.node.id': componentId,
    'graph.node.name': componentName ?? componentId,
    metadata: hasMetadata ? JSON.stringify(metadata) : undefined,
  });
}

function agentAttributes({ run, steps }: TracedRun): SpanAttributes {
  const { kind, componentId, model, modelProvider } = run;
  const name = run.componentName ?? componentId;
  const called = steps.find((step) => step.kind === 'model' && step.input !== null);
  const tools = readIf(called, modelCallRecord)?.tools;
  return attributesOf({
    'agent.name': name,
    [`agno.${kind}.id`]: componentId,
    [`agno.${kind}`]: name,
    'agno.tools': kind === 'agent' ? tools : undefined,
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.id': componentId,
    'gen_ai.agent.name': name,
    'gen_ai.request.model': model,
    'gen_ai.provider.name': modelProvider === null ? undefined : conventionalProvider(modelProvider),
  });
}

function workflowAttributes({ run, steps }: TracedRun, facts: WorkflowFacts | undefined): SpanAttributes {
  const declared =
    facts?.steps ??
    steps
      .filter(({ key }) => isTopLevel(key))
      .sort(byPosition)
      .map(stepFacts);
  return attributesOf({
    'agno.workflow.id': run.componentId,
    'agno.workflow': run.componentName ?? run.componentId,
    'agno.workflow.description': facts?.description,
    'agno.workflow.steps_count': declared.length,
    'agno.workflow.steps': declared.map(({ name }) => name),
    'agno.workflow.step_types': declared.map(({ type }) => type),
    'gen_ai.operation.name': 'invoke_workflow',
    'gen_ai.workflow.name': run.componentName ?? run.componentId,
  });
}

function stepFacts(step: StepRecord): { name: string; type: string } {
  return { name: step.name, type: read(step, nodeInput).node };
}

function byPosition(left: StepRecord, right: StepRecord): number {
  return left.key.localeCompare(right.key, 'en', { numeric: true });
}
