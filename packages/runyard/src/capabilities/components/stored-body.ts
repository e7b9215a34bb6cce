import type { AnyAgent } from '../../core/agents/agent.js';
import { isJsonObject, type Json } from '../../core/json.js';
import { type TeamMode, teamModes } from '../../core/teams/settings.js';
import type { AnyTeam } from '../../core/teams/team.js';
import type { AnyWorkflow } from '../../core/workflows/workflow.js';
import { agentBodyOf, type Fields, type ShownDatabases, withoutEmpty } from './agent-body.js';
import type { ListedComponent } from './running/built-components.js';
import { nameOf, type StoredConfig } from './stored-components.js';
import { teamBodyOf } from './team-body.js';
import { workflowSummaryOf } from './workflow-body.js';

/** A stored component in the list of its kind: also one that cannot be built, with the reason. */
export function listedBodyOf({ stored, component, degraded }: ListedComponent, service: string): Fields {
  const own = { own: databaseOf(stored) ?? service, service };
  const body = component === undefined ? degradedBodyOf(stored, own) : componentBodyOf(component, own);
  const { version, stage } = stored;
  return withoutEmpty({
    ...body,
    ...{ is_component: true, version, stage, degraded },
    // without a version of its own, a list shows the current one, or else a draft
    current_version: stage === 'published' ? version : undefined,
  });
}

function componentBodyOf(component: AnyAgent | AnyTeam | AnyWorkflow, databases: ShownDatabases): Fields {
  if (component.kind === 'workflow') return workflowSummaryOf(component, databases);
  return component.kind === 'team' ? teamBodyOf(component, databases) : agentBodyOf(component, databases);
}

/** What can be said without building it. */
function degradedBodyOf(stored: StoredConfig, { own }: ShownDatabases): Fields {
  const { kind, id, config } = stored;
  return {
    id,
    name: textOf(nameOf(stored)),
    description: textOf(config.description),
    db_id: own,
    is_factory: false,
    ...(kind === 'team' && { mode: modeOf(config.mode), members: [] }),
  };
}

function modeOf(mode: Json | undefined): TeamMode {
  return teamModes.find((known) => known === mode) ?? 'coordinate';
}

function databaseOf({ config: { db } }: StoredConfig): string | undefined {
  return isJsonObject(db) ? textOf(db.id) : undefined;
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
