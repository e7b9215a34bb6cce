import { RunyardError } from './runyard-error.js';

const mostShown = 20;

/** About the configurations of components. */
export const configErrors = {
  /** Each fault begins with its place: `tools[0].name names the tool 'x', which is not registered.` */
  invalidComponentConfig: (
    kind: string,
    id: string,
    faults: readonly { readonly path: string; readonly message: string }[],
  ) => {
    const shown = faults.slice(0, mostShown).map(({ path, message }) => `${path || 'the config'} ${message}`);
    const more = faults.length - shown.length;
    const rest = more > 0 ? [`and ${more} more.`] : [];
    return new RunyardError(
      'invalid_component_config',
      422,
      `The config of ${kind} '${id}' cannot be used: ${[...shown, ...rest].join(' ')}`,
    );
  },
} as const;
