import type { JsonObject } from '../../json.js';
import type { ModelRequest } from '../model.js';

/** The settings of a model with the parameters of one call over its own. */
export function forCall<Settings extends { readonly parameters: JsonObject }>(
  settings: Settings,
  { parameters }: ModelRequest,
): Settings {
  if (parameters === undefined) return settings;
  return { ...settings, parameters: { ...settings.parameters, ...parameters } };
}
