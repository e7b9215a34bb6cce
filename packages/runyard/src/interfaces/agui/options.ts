import { errors } from '../../core/errors/errors.js';
import { checkOptions } from '../../core/options/check-options.js';
import { objectOf } from '../../core/options/kinds.js';
import {
  type ComponentName,
  componentName,
  type ExposedOptions,
  type Exposes,
  exposedBy,
  exposedOptions,
  namedBy,
  type OneComponent,
  oneComponentOptions,
  prefixOf,
} from '../common/exposed-components.js';

/** With one of `agent`, `team` and `workflow` there is one endpoint; without them, each component has its own. */
export interface AguiOptions extends OneComponent, ExposedOptions {
  /** What stands before `/agui` and `/status`. Default: nothing. */
  readonly prefix?: string;
}

export interface AguiConfig {
  readonly prefix: string;
  /** The only component. */
  readonly only?: ComponentName;
  readonly exposes: Exposes;
  /** What the options name. */
  readonly named: readonly ComponentName[];
}

const owner = 'agui()';

const aguiOptions = objectOf<AguiOptions>({
  prefix: prefixOf('/assistant'),
  ...oneComponentOptions,
  ...exposedOptions,
});

export function readAguiOptions(given: AguiOptions): AguiConfig {
  checkOptions(owner, given, aguiOptions);
  const { prefix = '', agent, team, workflow, agents, teams, workflows } = aguiOptions.plain(given);
  const hasOne = [agent, team, workflow].some((one) => one !== undefined);
  const hasLists = [agents, teams, workflows].some((list) => list !== undefined);
  if (hasOne && hasLists)
    throw errors.invalidConfig(
      `${owner}: name one component with agent, team or workflow, or several with agents, teams and workflows, not both.`,
    );
  const listed = { agents, teams, workflows };
  const exposes = exposedBy(listed);
  if (!hasOne) return { prefix, exposes, named: namedBy(listed) };
  const only = componentName(owner, { agent, team, workflow });
  return { prefix, exposes, only, named: [only] };
}
