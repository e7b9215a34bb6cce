import { errors } from './errors/errors.js';

/** The id and the name of a component, each from the other when it is left out. `what` is used in error messages. */
export function identify(
  what: string,
  { id, name }: { readonly id?: string; readonly name?: string },
): { id: string; name: string } {
  if (!id && !name) throw errors.invalidConfig(`${what} needs an id or a name, such as { id: 'assistant' }.`);
  const chosen = id ?? slug(name ?? '');
  if (!/^[\w.~-]+$/.test(chosen)) {
    throw errors.invalidConfig(
      `${what} has the id '${chosen}', which cannot stand in a URL. Use letters, digits, '-', '_', '.' or '~'.`,
    );
  }
  return { id: chosen, name: name ?? chosen };
}

function slug(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}
