import { hookRecord, knowledgeRecord, toolRecord } from '../agents/journal-records.js';
import { read, readIf } from '../runs/journal/codec.js';
import { anyQuestion, anyRecord } from '../runs/journal/records.js';
import type { StepRecord } from '../runs/run.js';
import { attributesOf, contentAttributes } from './attributes.js';
import { argumentsOf, calledBy } from './llm-span.js';
import type { SpanAttributes, SpanKind } from './span.js';
import type { TracedRun } from './traced-run.js';

export function toolFailure(step: StepRecord): { message?: string } {
  const record = step.kind === 'tool' ? readIf(step, toolRecord) : undefined;
  return record?.error ? { message: record.content } : {};
}

/** `brief` as in `TraceSource`. */
export function toolAttributes(traced: TracedRun, step: StepRecord, brief: boolean): SpanAttributes {
  const written = argumentsOf(traced, step);
  const record = step.status === 'completed' ? read(step, toolRecord) : undefined;
  return {
    ...attributesOf({
      'tool.name': step.name,
      'tool.parameters': written,
      'input.value': written,
    }),
    ...(!brief &&
      attributesOf({
        'input.mime_type': 'application/json',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': step.name,
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.call.id': record?.callId ?? calledBy(traced, step)?.id,
        'gen_ai.tool.call.arguments': written,
        'gen_ai.tool.call.result': record?.content,
      })),
    ...contentAttributes('output', record?.content),
  };
}

export function knowledgeFailure(step: StepRecord): { message?: string } {
  const failure = readIf(step, knowledgeRecord)?.failure;
  return failure === undefined ? {} : { message: failure };
}

/** A search for a message of the user, which no model asked for. */
export function knowledgeAttributes(step: StepRecord): SpanAttributes {
  const record = readIf(step, knowledgeRecord);
  return {
    ...attributesOf({ 'tool.name': step.name }),
    ...contentAttributes('input', record?.query),
    ...contentAttributes('output', record?.references),
  };
}

interface DescribedHook {
  readonly name: string;
  readonly kind: SpanKind;
  attributes(): SpanAttributes;
}

/** The values of dependencies are often the application's secrets: a span shows only that they were made. */
export function describeHook(step: StepRecord): DescribedHook {
  if (step.key === 'dependencies') return { name: step.name, kind: 'WORKFLOW', attributes: () => ({}) };
  const record = step.status === 'completed' ? read(step, hookRecord) : undefined;
  const changed = record?.outcome === 'changed' ? record.content : undefined;
  return {
    name: step.name,
    kind: 'GUARDRAIL',
    attributes: () => ({
      ...attributesOf({ 'runyard.hook.outcome': record?.outcome }),
      ...contentAttributes('output', changed),
    }),
  };
}

export function hookFailure(step: StepRecord): { message?: string } {
  if (step.status !== 'completed' || step.key === 'dependencies') return {};
  const record = read(step, hookRecord);
  return 'message' in record ? { message: record.message } : {};
}

export function waitAttributes(step: StepRecord): SpanAttributes {
  return {
    ...attributesOf({ 'runyard.wait.kind': step.name }),
    ...contentAttributes('input', readIf(step, anyQuestion)),
    ...(step.status === 'completed' && contentAttributes('output', read(step, anyRecord))),
  };
}
