import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Json, JsonObject } from '../../core/json.js';
import type { TransferService } from './service.js';

/**
 * A version of another component that a version pins. Numbers of versions differ between stages, so the version is named
 * by what it holds.
 */
export const pin = z.strictObject({
  link_kind: z.string(),
  link_key: z.string(),
  child_component_id: z.string(),
  child_config_sha256: z.string(),
});
export type Pin = z.output<typeof pin>;

function digestOf(config: Json | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify(config ?? {}))
    .digest('hex');
}

interface Versioned {
  readonly body: JsonObject;
  readonly versions: readonly JsonObject[];
}

/** What each version of these components pins, by `pinner`. */
export async function pinsOf(
  service: TransferService,
  components: readonly Versioned[],
): Promise<ReadonlyMap<string, readonly Pin[]>> {
  const pins = new Map<string, Pin[]>();
  for (const { body, versions } of components) {
    const child = String(body.component_id);
    for (const one of await service.all(`/components/${encodeURIComponent(child)}/dependents`)) {
      const pinned = versions.find(({ version }) => version === one.child_version);
      if (one.child_version === undefined || pinned === undefined) continue;
      const key = pinner(one.component_id, one.version);
      const made: Pin = {
        link_kind: String(one.link_kind),
        link_key: String(one.link_key),
        child_component_id: child,
        child_config_sha256: digestOf(pinned.config),
      };
      pins.set(key, [...(pins.get(key) ?? []), made]);
    }
  }
  for (const list of pins.values()) list.sort((one, other) => (textOf(one) < textOf(other) ? -1 : 1));
  return pins;
}

/** A version of a component. */
export function pinner(id: Json | undefined, version: Json | undefined): string {
  return `${id} ${version}`;
}

function textOf({ link_kind: kind, link_key: key }: Pin): string {
  return `${kind} ${key}`;
}

/** The links of pins in this service. Throws when it does not have what is pinned. */
export async function linksOf(
  pins: readonly Pin[],
  versionsOf: (id: string) => Promise<readonly JsonObject[]>,
): Promise<JsonObject[]> {
  const links: JsonObject[] = [];
  for (const [position, one] of pins.entries()) {
    const { link_kind, link_key, child_component_id: child, child_config_sha256: digest } = one;
    const versions = await versionsOf(child);
    const found = versions.findLast(({ config }) => digestOf(config) === digest);
    if (found?.version === undefined)
      throw new Error(
        `${link_kind} ${link_key} pins a version of ${child} that the service does not have. Export with --all-versions, or remove the pin.`,
      );
    links.push({ link_kind, link_key, child_component_id: child, child_version: found.version, position });
  }
  return links;
}
