import type { StepOutput } from '../../events/workflow-event.js';
import type { Json } from '../../json.js';
import { read } from '../../runs/journal/codec.js';
import type { StepRecord } from '../../runs/run.js';
import { type GroupRecord, nodeInput } from '../journal-records.js';

/** What a group of steps says about itself; the steps have their own outputs. */
export function groupContent(step: StepRecord, record: GroupRecord, steps: readonly StepOutput[]): string {
  const { name } = step;
  if (record.note !== undefined) return record.note;
  switch (read(step, nodeInput).node) {
    case 'Loop':
      return `Loop '${name}' ended after ${counted(record.iterations?.length ?? 0, 'iteration')} with ${counted(steps.length, 'step')}.`;
    case 'Parallel':
      return digest(name, steps);
    case 'Condition':
      return record.branch === 'else'
        ? `Condition '${name}' was not met: ${counted(steps.length, 'other step')} done instead.`
        : `Condition '${name}' was met: ${counted(steps.length, 'step')} done.`;
    case 'Router':
      return `Router '${name}' chose ${(record.selected ?? []).map((choice) => `'${choice}'`).join(', ')}.`;
    default:
      return `Steps '${name}' ended after ${counted(steps.length, 'step')}.`;
  }
}

function digest(name: string, steps: readonly StepOutput[]): string {
  const parts = steps.map(({ step_name, content, success }) => {
    return `### ${step_name}${success ? '' : ' (failed)'}\n\n${textOf(content)}`;
  });
  return [`## ${name}`, ...parts].join('\n\n');
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** A content as a text: what is no text is written as JSON. */
export function textOf(content: Json): string {
  return typeof content === 'string' ? content : JSON.stringify(content, null, 2);
}
