import { idFrom } from '../core/ids.js';

/** How clients recognise a service, also one that was restarted: the same name gives the same id. */
export function serviceIdOf({
  id,
  name,
}: {
  readonly id?: string | undefined;
  readonly name: string;
}): string {
  return id ?? idFrom(`runyard:${name}`);
}
