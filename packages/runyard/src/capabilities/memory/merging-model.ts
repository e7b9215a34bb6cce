import { Agent } from '../../core/agents/agent.js';
import { errors } from '../../core/errors/errors.js';
import type { Model } from '../../core/models/model.js';
import { parseModelName } from '../../core/models/model-name.js';
import { type ModelLike, resolveModel } from '../../core/models/resolve.js';
import { isRemote } from '../../core/remote/remote-component.js';
import { Team } from '../../core/teams/team.js';
import type { ComponentsService } from '../components/service.js';

/** The model that a request names, or else the service's own. */
export async function mergingModel(
  named: string | undefined,
  own: () => ModelLike | undefined | Promise<ModelLike | undefined>,
): Promise<Model> {
  if (named !== undefined) return requestedModel(named);
  const model = await own();
  if (model === undefined) throw errors.noDefaultModel();
  return resolveModel(model);
}

/**
 * The model that the service uses itself: the configured one, or that of the first agent, the one it remembers with if
 * it has such a one. Where code registers neither an agent nor a team, that of the first which is stored.
 */
export async function modelOfService(
  components: ComponentsService,
  configured: string | undefined,
): Promise<ModelLike | undefined> {
  if (configured !== undefined) return configured;
  const agents = components.listAgents().filter((agent) => agent instanceof Agent);
  for (const { settings, model } of agents.filter((agent) => !isRemote(agent))) {
    const own = settings.memoryModel ?? model;
    if (own !== null) return own;
  }
  const teams = components.listTeams().filter((team) => team instanceof Team);
  const own = teams.filter((team) => !isRemote(team));
  return own.flatMap(({ model }) => model ?? [])[0] ?? components.firstStoredModel();
}

/** Only providers that Runyard knows: what a request says must not decide which package is loaded. */
function requestedModel(text: string): Model {
  if (text === 'offline') return resolveModel(text);
  const { prefix, id, known } = parseModelName(text);
  if (prefix === '' || id === '') throw errors.invalidModelName(text);
  if (known === undefined) throw errors.modelProviderUnsupported(prefix);
  return resolveModel(text);
}
