import { checkOptions } from '../../core/options/check-options.js';
import { objectOf } from '../../core/options/kinds.js';
import {
  type ComponentName,
  componentName,
  type OneComponent,
  oneComponentOptions,
  prefixOf,
} from '../common/exposed-components.js';

export interface AiSdkOptions extends OneComponent {
  /** Where the chat is. Default: `/api/chat`, where `useChat` looks for it. */
  readonly path?: string;
}

/** What one mounted interface serves. */
export interface AiSdkConfig {
  readonly path: string;
  /** The component of the chat. Left out: each component has a path below. */
  readonly component?: ComponentName;
}

const owner = 'aiSdk()';
const aiSdkOptions = objectOf<AiSdkOptions>({ path: prefixOf('/api/chat'), ...oneComponentOptions });

export function readAiSdkOptions(given: AiSdkOptions): AiSdkConfig {
  checkOptions(owner, given, aiSdkOptions);
  const { path = '/api/chat', ...one } = aiSdkOptions.plain(given);
  const isNamed = Object.values(one).some((component) => component !== undefined);
  return { path, ...(isNamed && { component: componentName(owner, one) }) };
}
