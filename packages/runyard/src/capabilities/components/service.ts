import { Agent } from '../../core/agents/agent.js';
import { AgentFactory } from '../../core/agents/agent-factory.js';
import { errors } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Executable } from '../../core/runs/executable.js';
import type { Run, RunKind } from '../../core/runs/run.js';

/** An agent that stands ready, or what builds one for each run. */
export type RegisteredAgent = Agent | AgentFactory;

/** Everything that is registered and can run. */
export class ComponentsService {
  private readonly agents: ReadonlyMap<string, RegisteredAgent>;

  constructor(agents: readonly RegisteredAgent[]) {
    this.agents = byId(agents);
  }

  /** Registered agents and factories in the order of their registration. */
  listAgents(): RegisteredAgent[] {
    return [...this.agents.values()];
  }

  /** The agents that stand ready. */
  readyAgents(): Agent[] {
    return this.listAgents().filter((agent) => agent instanceof Agent);
  }

  getAgent(id: string): RegisteredAgent {
    const agent = this.agents.get(id);
    if (agent === undefined) throw errors.componentNotFound('agent');
    return agent;
  }

  find(kind: RunKind, id: string): RegisteredAgent | undefined {
    return kind === 'agent' ? this.agents.get(id) : undefined;
  }

  /** What executes a stored run; undefined when its component is not registered here. */
  async executableOf(run: Run, state: () => Promise<JsonObject>): Promise<Executable | undefined> {
    const component = this.find(run.kind, run.componentId);
    return component instanceof AgentFactory ? component.rebuild(run, await state()) : component;
  }
}

function byId(agents: readonly RegisteredAgent[]): ReadonlyMap<string, RegisteredAgent> {
  const map = new Map<string, RegisteredAgent>();
  for (const agent of agents) {
    if (map.has(agent.id))
      throw errors.invalidConfig(`Two agents have the id '${agent.id}'. Give one of them another id.`);
    map.set(agent.id, agent);
  }
  return map;
}
