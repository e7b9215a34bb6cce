import type { Agent } from '../../core/agents/agent.js';
import { AgentFactory } from '../../core/agents/agent-factory.js';
import type { RunKind } from '../../core/runs/run.js';
import type { RunSlots } from '../../core/runs/run-slots.js';
import type { Team } from '../../core/teams/team.js';
import type { Caller } from '../../platform/auth/caller.js';
import type { AuthMode } from '../../platform/auth/tokens/settings.js';
import type { Component, ComponentsService } from '../components/service.js';
import type { Readiness, ReadinessReport } from './readiness.js';
import { runCounts } from './run-counts.js';

export interface SystemFacts {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly version: string;
  readonly startedAt: Date;
  /** The ids of the registered databases, the service's own first. */
  readonly databases: readonly string[];
  readonly slots: RunSlots;
  readonly readiness: Readiness;
  readonly authMode: AuthMode;
  /** Counts the runs of components that are not registered. */
  readonly orphans: { counts(): Promise<readonly OrphanedRuns[] | undefined> };
}

interface OrphanedRuns {
  readonly kind: RunKind;
  readonly componentId: string;
  readonly count: number;
}

type Fields = Record<string, unknown>;

/** Whoever may do one of these to a component may know that it is there. */
const shownActions = ['read', 'run'] as const;

/** What the service says about itself. */
export class SystemService {
  constructor(
    private readonly facts: SystemFacts,
    private readonly components: ComponentsService,
  ) {}

  home(): Fields {
    return { name: `${this.facts.name} API`, id: this.facts.id, version: this.facts.version };
  }

  health(): Fields {
    return healthOf(this.facts.startedAt);
  }

  ready(): Promise<ReadinessReport> {
    return this.facts.readiness.report();
  }

  async info(caller: Caller): Promise<Fields> {
    const { slots } = this.facts;
    return {
      os_id: this.facts.id,
      name: this.facts.name,
      product: 'Runyard',
      version: this.facts.version,
      agno_version: this.facts.version,
      agent_count: this.components.listAgents().length,
      team_count: this.components.listTeams().length,
      workflow_count: this.components.listWorkflows().length,
      mcp: { enabled: false, path: null, oauth: null },
      auth_mode: this.facts.authMode,
      runs: runCounts(slots),
      orphaned_runs: await this.orphanedRuns(caller),
    };
  }

  /** For a caller who sees the runs of all users, of those components that they may see or run. */
  private async orphanedRuns({ scope, rights }: Caller): Promise<Fields | undefined> {
    if (scope.kind !== 'all') return undefined;
    const counts = await this.facts.orphans.counts();
    if (counts === undefined) return undefined;
    const components = counts.filter(({ kind, componentId }) =>
      shownActions.some((action) => rights.may(`${kind}s:${action}`, componentId)),
    );
    return {
      count: components.reduce((sum, { count }) => sum + count, 0),
      components: components.map(({ kind, componentId, count }) => ({ type: kind, id: componentId, count })),
    };
  }

  /** Those of the components that the caller may see or run, each once. */
  models(caller: Caller): { id: string; provider: string }[] {
    const unique = new Map<string, { id: string; provider: string }>();
    const { agents, teams, workflows } = this.rosters(caller);
    for (const component of [...agents, ...teams, ...workflows]) {
      const model = component instanceof AgentFactory ? null : component.model;
      if (model !== null)
        unique.set(`${model.provider}\n${model.id}`, { id: model.id, provider: model.provider });
    }
    return [...unique.values()];
  }

  /** What is registered, as far as the caller may see or run it: not even the name of anything else. */
  config(caller: Caller): Fields {
    const { agents, teams, workflows } = this.rosters(caller);
    const { id, name, description, databases } = this.facts;
    return {
      os_id: id,
      name,
      description,
      available_models: this.models(caller).map((model) => model.id),
      os_database: databases[0],
      databases,
      session: { dbs: databases.map((db) => sectionOf(db, 'sessions')) },
      memory: { dbs: databases.map((db) => sectionOf(db, 'memories')) },
      learning: { dbs: databases.map((db) => sectionOf(db, 'learnings')) },
      metrics: { dbs: databases.map((db) => sectionOf(db, 'daily_metrics')) },
      traces: { dbs: databases.map((db) => sectionOf(db)) },
      agents: agents.map((agent) => ({
        ...this.summary(agent),
        model: agent instanceof AgentFactory ? undefined : modelOf(agent),
        metadata: agent.settings.metadata,
      })),
      teams: teams.map((team) => ({ ...this.summary(team), mode: team.mode, model: modelOf(team) })),
      workflows: workflows.map((workflow) => ({
        ...this.summary(workflow),
        is_factory: false,
        is_component: false,
      })),
      interfaces: [],
    };
  }

  private rosters(caller: Caller) {
    return {
      agents: this.components.listAgents(caller, shownActions),
      teams: this.components.listTeams(caller, shownActions),
      workflows: this.components.listWorkflows(caller, shownActions),
    };
  }

  private summary({ id, name, settings }: Component): Fields {
    return {
      id,
      name,
      description: settings.description,
      db_id: settings.database ?? this.facts.databases[0],
    };
  }
}

/** The process lives; whether it can do its work is another question. */
export function healthOf(startedAt: Date): Fields {
  return { status: 'ok', instantiated_at: startedAt.toISOString() };
}

/** What a client has to know to ask for one group's part of a database. */
function sectionOf(db: string, table?: string): Fields {
  return {
    db_id: db,
    domain_config: { display_name: db },
    ...(table !== undefined && { tables: [table] }),
  };
}

function modelOf({ model }: Agent | Team): Fields {
  return { id: model.id, provider: model.provider };
}
