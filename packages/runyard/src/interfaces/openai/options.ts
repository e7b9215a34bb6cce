import { checkOptions } from '../../core/options/check-options.js';
import { objectOf } from '../../core/options/kinds.js';
import {
  type ComponentName,
  type ExposedOptions,
  type Exposes,
  exposedBy,
  exposedOptions,
  namedBy,
  prefixOf,
} from '../common/exposed-components.js';

export interface OpenaiApiOptions extends ExposedOptions {
  /** The path of the interface, which clients have in their base URL. Default: `/v1`. */
  readonly prefix?: string;
}

/** What one mounted interface serves. */
export interface OpenaiConfig {
  readonly prefix: string;
  readonly exposes: Exposes;
  /** What the options name. */
  readonly named: readonly ComponentName[];
}

const openaiOptions = objectOf<OpenaiApiOptions>({ prefix: prefixOf('/v1'), ...exposedOptions });

export function readOpenaiOptions(given: OpenaiApiOptions): OpenaiConfig {
  checkOptions('openaiApi()', given, openaiOptions);
  const { prefix = '/v1', ...exposed } = openaiOptions.plain(given);
  return { prefix, exposes: exposedBy(exposed), named: namedBy(exposed) };
}
