import type { Json } from '../../json.js';
import { RunFailed } from '../../runs/executable.js';
import type { ForeachNode } from '../definition/node.js';
import { contentTypeOf } from '../fold/node-view.js';
import type { GroupRecord } from '../journal-records.js';
import { type Flow, type Place, Scope } from './flow.js';
import { runBranches } from './run-parallel.js';

/** More would not fit into one run. */
const mostItems = 10_000;

/** The same step for each item of the list that the step before made. Each item is a step of the journal. */
export function runForeach(flow: Flow, node: ForeachNode, place: Place, scope: Scope): Promise<GroupRecord> {
  const [step] = node.steps;
  const items = itemsOf(node, scope.givenIn(flow));
  const branches = items.map((item, position) => ({
    node: step,
    scope: new Scope(item, new Map(scope.outputs), scope.media, scope.additionalData),
    iteration: position + 1,
  }));
  return runBranches(flow, node, place, branches, node.concurrency);
}

function itemsOf({ name }: ForeachNode, content: Json): readonly Json[] {
  const refused = (why: string) =>
    new RunFailed({
      type: 'step_failed',
      message: `Foreach '${name}' ${why}`,
      additionalData: { step_name: name },
    });
  if (!Array.isArray(content))
    throw refused(`needs a list from the step before it, and got ${inWords(contentTypeOf(content))}.`);
  if (content.length > mostItems)
    throw refused(`takes at most ${mostItems} items, and got ${content.length}. Divide the list.`);
  return content;
}

const types: Readonly<Record<string, string>> = {
  str: 'a text',
  dict: 'an object',
  NoneType: 'null',
  bool: 'true or false',
};

function inWords(type: string): string {
  return types[type] ?? 'a number';
}
