import { reasonOf } from '../../errors/reason.js';
import type { JsonObject } from '../../json.js';
import { RunFailed } from '../../runs/executable.js';
import type { StateView } from '../../runs/execution/session-state.js';
import { read } from '../../runs/journal/codec.js';
import type { StepRecord } from '../../runs/run.js';
import { Expression } from '../definition/cel.js';
import type { WorkflowNode } from '../definition/node.js';
import { deciderIdentity } from '../definition/node-identity.js';
import { decisionInput, decisionRecord, nodeKey } from '../journal-records.js';
import type { Flow, Place } from './flow.js';

interface Question<F> {
  /** A part of the key of the step: each decision is taken once. */
  readonly key: string;
  /** What is decided, in words. */
  readonly what: string;
  readonly by: F | Expression;
  /** What the decision belongs to. */
  readonly node: WorkflowNode;
  variables(): JsonObject;
  ask(decide: F, state: StateView): unknown;
}

/** Decides by a function or an expression, and writes the decision down: the run takes the same way again. */
export async function decide<F extends (...args: never[]) => unknown, T extends boolean | string[]>(
  { context }: Flow,
  place: Pick<Place, 'path'>,
  question: Question<F>,
  readValue: (value: unknown) => T,
): Promise<T> {
  const { by, what } = question;
  const record = await context.step(
    `${nodeKey(place.path)}:${question.key}`,
    {
      ...decisionSpec(question),
      record: decisionRecord,
      parentKey: nodeKey(place.path.replace(/@\d+(~\d+)?$/, '')),
    },
    async () => {
      try {
        if (by instanceof Expression) return { decided: readValue(by.evaluate(question.variables())) };
        const state = context.state.fork();
        const value: unknown = await context.callApplication(question.key, () => question.ask(by, state));
        const decided = readValue(value);
        // stored with the decision, and not again when the run takes the same way again
        state.merge();
        return { decided };
      } catch (error) {
        context.signal.throwIfAborted();
        const message = `${what} could not be decided: ${reasonOf(error).split('\n', 1)[0]}`;
        throw new RunFailed({ type: 'workflow_decision_error', message }, { cause: error });
      }
    },
  );
  // what was written down is what this returned
  return record.decided as T;
}

/** Another expression, or another function of a group without a name, would have to decide again. */
export function decisionSpec<F extends (...args: never[]) => unknown>({
  key,
  node,
  by,
}: Pick<Question<F>, 'key' | 'node' | 'by'>) {
  const decider = deciderIdentity(node, by);
  const of = (words: string) => `'${key}' of '${node.name}' by ${words}`;
  const was = (step: StepRecord) => (step.input === null ? undefined : of(read(step, decisionInput).by));
  const input = { by: decider };
  return { kind: 'decision', name: key, input, identity: { is: of(decider), was } } as const;
}

export function readBoolean(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new TypeError(`it returned ${JSON.stringify(value) ?? String(value)}, not true or false`);
}
