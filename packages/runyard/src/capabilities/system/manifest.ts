import type { Caller } from '../../platform/auth/caller.js';
import type { Fields, ServiceSite } from '../capability.js';

const kinds = ['agents', 'teams', 'workflows'] as const;

/** What the settings say about components, as far as the caller may see or run them. */
export function manifestPart(
  { settings: { manifest, availableModels }, components }: Pick<ServiceSite, 'settings' | 'components'>,
  caller: Caller,
): Fields {
  const shown = new Set(
    Object.values(components.shownTo(caller))
      .flat()
      .map(({ id }) => id),
  );
  const ofCode = new Set(components.list().map(({ id }) => id));
  const seesAll = kinds.every((kind) => caller.rights.may(`${kind}:read`));
  // whose component is not of the code may be stored
  const entries = Object.entries(manifest).filter(([id]) => shown.has(id) || (seesAll && !ofCode.has(id)));
  const prompts = entries.flatMap(([id, { quickPrompts }]) => (quickPrompts ? [[id, quickPrompts]] : []));
  return {
    ...(availableModels !== undefined && { available_models: availableModels }),
    ...(prompts.length > 0 && { chat: { quick_prompts: Object.fromEntries(prompts) } }),
    ...(entries.length > 0 && {
      manifest: Object.fromEntries(
        entries.map(([id, { quickPrompts, ...rest }]) => [
          id,
          { ...rest, ...(quickPrompts !== undefined && { quick_prompts: quickPrompts }) },
        ]),
      ),
    }),
  };
}
