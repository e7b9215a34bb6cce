import type { Agent } from '../../core/agents/agent.js';
import { errors } from '../../core/errors.js';
import type { RunKind } from '../../core/runs/run.js';

/** Everything that is registered and can run. */
export class ComponentsService {
  private readonly agents: ReadonlyMap<string, Agent>;

  constructor(agents: readonly Agent[]) {
    this.agents = byId(agents);
  }

  /** Registered agents in the order of their registration. */
  listAgents(): Agent[] {
    return [...this.agents.values()];
  }

  getAgent(id: string): Agent {
    const agent = this.agents.get(id);
    if (agent === undefined) throw errors.componentNotFound('agent');
    return agent;
  }

  find(kind: RunKind, id: string): Agent | undefined {
    return kind === 'agent' ? this.agents.get(id) : undefined;
  }
}

function byId(agents: readonly Agent[]): ReadonlyMap<string, Agent> {
  const map = new Map<string, Agent>();
  for (const agent of agents) {
    if (map.has(agent.id))
      throw errors.invalidConfig(`Two agents have the id '${agent.id}'. Give one of them another id.`);
    map.set(agent.id, agent);
  }
  return map;
}
