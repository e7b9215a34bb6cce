import { errors } from '../../core/errors/errors.js';
import { ComponentFactory } from '../../core/factories/component-factory.js';
import type { Model } from '../../core/models/model.js';
import { parseModelName } from '../../core/models/model-name.js';
import { knownProviders } from '../../core/models/providers.js';
import { describeModel, resolveModel } from '../../core/models/resolve.js';
import type { Component, ComponentsService } from '../components/service.js';
import type { EvalBody } from './schema.js';
import type { StoredEval } from './stored-eval.js';

export interface JudgeSettings {
  readonly evalJudge?: string | undefined;
  readonly defaultModel?: string | undefined;
}

/** The name of the model that the component is to run on; undefined for its own. Only both fields together count. */
export function requestedModel({ model_id: id, model_provider: provider }: EvalBody): string | undefined {
  if (!id || !provider) return undefined;
  const wanted = provider.toLowerCase();
  if (wanted === 'runyard' && id === 'offline') return 'offline';
  // only providers that Runyard knows: what a request says must not decide which package is loaded
  const known = Object.entries(knownProviders).find(
    ([prefix, { provider: shown }]) => prefix === wanted || shown.toLowerCase() === wanted,
  );
  if (known === undefined) throw errors.modelProviderUnsupported(provider);
  return `${known[0]}:${id}`;
}

/** The model that the row of an eval names. */
export function modelOfEval(
  evalType: StoredEval['evalType'],
  component: Component | undefined,
  requested: string | undefined,
): StoredEval['model'] {
  const own = modelOf(component);
  const described = own && { id: own.id, provider: own.provider };
  // of a judge, its own model is named only where the request decides it
  if (evalType === 'agent_as_judge') return requested === undefined ? null : (described ?? null);
  if (requested === undefined) return described ?? null;
  const { id, provider } = describeModel(requested);
  return { id: id.toLowerCase(), provider };
}

/**
 * Who judges: where the component runs on a requested model, its own; else that of the settings, that of the component,
 * or that which the service itself uses.
 */
export function judgeOf(
  component: Component | undefined,
  requested: string | undefined,
  components: ComponentsService,
  { evalJudge, defaultModel }: JudgeSettings,
): Model | undefined {
  const own = modelOf(component);
  if (requested !== undefined && own !== undefined) return own;
  if (evalJudge !== undefined) return resolveModel(evalJudge);
  if (own !== undefined) return own;
  if (defaultModel !== undefined) return resolveModel(defaultModel);
  return components.ready().flatMap((ready) => ready.model ?? [])[0];
}

/** Refuses a judge in the settings whose name means nothing. */
export function checkJudge(name: string | undefined): void {
  if (name === undefined || name === 'offline') return;
  const { prefix, id } = parseModelName(name);
  if (prefix === '' || id === '')
    throw errors.invalidConfig(`The setting evalJudge is '${name}'. Write provider:model_id, or offline.`);
}

export function modelOf(component: Component | undefined): Model | undefined {
  if (component === undefined || component instanceof ComponentFactory) return undefined;
  return component.model ?? undefined;
}
