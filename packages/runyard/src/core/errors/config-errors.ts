import { RunyardError } from './runyard-error.js';

/** As in `core/configs`, which errors must not import. */
export interface ConfigFault {
  readonly path: string;
  readonly message: string;
}

const mostShown = 20;

/** About the configurations of components. */
export const configErrors = {
  /** Each fault begins with its place: `tools[0].name names the tool 'x', which is not registered.` */
  invalidComponentConfig: (kind: string, id: string, faults: readonly ConfigFault[]) => {
    const shown = faults.slice(0, mostShown).map(({ path, message }) => `${path || 'the config'} ${message}`);
    const more = faults.length - shown.length;
    const rest = more > 0 ? [`and ${more} more.`] : [];
    return new RunyardError(
      'invalid_component_config',
      422,
      `The config of ${kind} '${id}' cannot be used: ${[...shown, ...rest].join(' ')}`,
      { cause: faults },
    );
  },
} as const;

/** The faults that such an error lists; undefined for any other error. */
export function configFaultsOf(error: unknown): readonly ConfigFault[] | undefined {
  if (!(error instanceof RunyardError) || error.code !== 'invalid_component_config') return undefined;
  // the catalogue makes it with them
  return error.cause as readonly ConfigFault[];
}
