import type { AnyAgent } from '../agents/agent.js';
import type { JsonObject } from '../json.js';
import type { Registry } from '../registry/registry.js';
import type { RunKind } from '../runs/run.js';
import type { AnyTeam } from '../teams/team.js';
import type { AnyWorkflow } from '../workflows/workflow.js';

/** What a configuration is built into. */
export type BuiltComponent = AnyAgent | AnyTeam | AnyWorkflow;

/** What is wrong at one place of a configuration, such as `tools[0].name`. */
export interface ConfigFault {
  readonly path: string;
  readonly message: string;
}

/** Another component that a configuration names: a member of a team, or what executes a step of a workflow. */
export interface ComponentReference {
  readonly kind: RunKind;
  readonly id: string;
  /** Where the configuration names it. */
  readonly path: string;
  /** The link that pins its version: `member` and `member_0`, `step_agent` and the name of the step. */
  readonly linkKind: 'member' | 'step_agent' | 'step_team' | 'step_workflow';
  readonly linkKey: string;
}

/** What the references of a configuration are looked up in. */
export interface ConfigSite {
  readonly registry: Registry;
  /** The ids of the service's databases, its own first. */
  readonly databases: readonly string[];
  /** Whether it is built as a member of a team. */
  readonly isMember?: boolean;
  /** What a reference names; undefined when there is no such component. */
  component(reference: ComponentReference): BuiltComponent | undefined;
}

/** The form in which components are stored and sent. Its keys are those of the wire. */
export type ComponentConfig = JsonObject;
