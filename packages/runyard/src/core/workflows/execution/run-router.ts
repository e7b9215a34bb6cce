import type { RouterNode } from '../definition/node.js';
import { childPath, type GroupRecord, nodeKey } from '../journal-records.js';
import { askForRoute } from '../review/ask-for-route.js';
import { reviewRoute } from '../review/review-route.js';
import { decide } from './decide.js';
import {
  type Flow,
  hasBegun,
  type Place,
  placeInside,
  runList,
  type Scope,
  stepFields,
  stepInput,
  tell,
  variablesOf,
} from './flow.js';

export async function runRouter(
  flow: Flow,
  node: RouterNode,
  place: Place,
  scope: Scope,
): Promise<GroupRecord> {
  const selected = await choose(flow, node, place, scope);
  if (!Array.isArray(selected))
    return {
      children: [],
      note: `Router '${node.name}' was skipped: ${selected.skipped}.`,
      stop: false,
      skipped: true,
    };
  const chosen = selected.map((name) => choiceOf(flow, node, place, name));
  const fields = stepFields(node, place);
  const [first] = chosen;
  if (first === undefined || !hasBegun(flow, childPath.of(place.path, first.position)))
    tell(flow, place, 'started', { event: 'RouterExecutionStarted', ...fields, selected_steps: selected });
  const nodes = chosen.map((choice) => choice.node);
  const { keys, views, stopped } = await runList(flow, nodes, scope.fork(), (order) => {
    const position = chosen[order]?.position ?? 0;
    const inside = placeInside(flow, place, childPath.of(place.path, position), position);
    return { ...inside, index: place.index };
  });
  tell(flow, place, 'completed', {
    event: 'RouterExecutionCompleted',
    ...fields,
    selected_steps: selected,
    executed_steps: keys.length,
    step_results: views.map(({ output }) => output),
  });
  return { children: keys, selected, stop: stopped };
}

/** What was chosen before the code changed may be gone. */
function choiceOf({ context }: Flow, node: RouterNode, { path }: Place, name: string) {
  const position = node.steps.findIndex((choice) => choice.name === name);
  const chosen = node.steps[position];
  if (chosen !== undefined) return { position, node: chosen };
  const was = `'${node.name}' (router) with the choice '${name}'`;
  throw context.definitionChanged({ key: nodeKey(path), was, is: `'${node.name}' (router) without it` });
}

async function choose(
  flow: Flow,
  node: RouterNode,
  place: Place,
  scope: Scope,
): Promise<string[] | { readonly skipped: string }> {
  const { select, review } = node;
  const byPerson = async () =>
    (await askForRoute(flow, node, place)) ?? { skipped: 'no choice was made in time' };
  if (select === 'user') return byPerson();
  const choices = node.steps.map(({ name }) => name);
  const chosen = await decide(
    flow,
    place,
    {
      key: 'select',
      what: `The way of router '${node.name}'`,
      by: select,
      node,
      variables: () => ({ ...variablesOf(flow, scope), step_choices: choices }),
      ask: (ask, state) => ask(Object.assign(stepInput(flow, place, scope, state), { choices })),
    },
    (value) => readChoices(value, choices),
  );
  if (!review?.requiresRouteReview) return chosen;
  const verdict = await reviewRoute(flow, node, review, place, chosen);
  if (verdict === 'again') return byPerson();
  return verdict === 'kept' ? chosen : verdict;
}

function readChoices(value: unknown, choices: readonly string[]): string[] {
  const names = [...new Set<unknown>(Array.isArray(value) ? value : [value])];
  const unknown = names.find((name) => typeof name !== 'string' || !choices.includes(name));
  if (unknown === undefined) return names.map(String);
  const known = choices.map((name) => `'${name}'`).join(', ');
  throw new TypeError(
    `it returned ${JSON.stringify(unknown) ?? String(unknown)}, which is not one of its choices: ${known}`,
  );
}
