import { Agent } from '../agents/agent.js';
import type { AgentSettings } from '../agents/definition.js';
import type { RunKind } from '../runs/run.js';
import type { TeamSettings } from '../teams/settings.js';
import { Team } from '../teams/team.js';
import { Workflow } from '../workflows/workflow.js';
import type { WorkflowSettings } from '../workflows/workflow-options.js';
import { agentForm } from './agent-form.js';
import type { BuiltComponent } from './component-config.js';
import type { ConfigForm } from './config-keys.js';
import { teamForm } from './team-form.js';
import { workflowForm } from './workflows/workflow-form.js';

/** How the configurations of a kind are read and written, and what is made of them. */
export interface ConfigLanguage {
  readonly form: ConfigForm<unknown>;
  /** What the form writes of a component. */
  settingsOf(component: BuiltComponent): unknown;
  /** The component of settings that the form has read. */
  make(id: string, settings: Readonly<Record<string, unknown>>): BuiltComponent;
}

const languages: Readonly<Record<RunKind, ConfigLanguage>> = {
  agent: {
    form: agentForm,
    settingsOf: ({ settings }) => settings,
    // each setting was read by its key, and the agent checks all of them once more
    make: (id, settings) => new Agent({ ...(settings as unknown as AgentSettings), id }),
  },
  team: {
    form: teamForm,
    settingsOf: ({ settings }) => settings,
    // as those of an agent
    make: (id, settings) => new Team({ ...(settings as unknown as TeamSettings), id }),
  },
  workflow: {
    form: workflowForm,
    settingsOf: (component) => {
      if (!(component instanceof Workflow)) return component.settings;
      const { settings, nodes, whole } = component;
      return { ...settings, steps: whole ?? nodes };
    },
    // as those of an agent
    make: (id, settings) => new Workflow({ ...(settings as unknown as WorkflowSettings), id }),
  },
};

export function languageOf(kind: RunKind): ConfigLanguage {
  return languages[kind];
}
