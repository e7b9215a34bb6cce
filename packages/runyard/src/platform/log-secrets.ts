import { fieldsOf } from '../core/objects.js';
import { isSecretName, removedSecret, withoutSecretsInText } from '../core/secret-names.js';

const deepest = 8;

/** The same value without secrets. What holds none is returned as it is, so that the usual line costs no copy. */
export function withoutSecrets(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return withoutSecretsInText(value);
  if (typeof value !== 'object' || value === null || value instanceof Error || depth > deepest) return value;
  if (Array.isArray(value)) return cleanedList(value, depth);
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null)
    return value;
  return cleanedFields(fieldsOf(value), depth);
}

function cleanedFields(fields: Record<string, unknown>, depth: number): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const name in fields) {
    const value = fields[name];
    const cleaned =
      isSecretName(name) && value !== undefined && value !== null
        ? removedSecret
        : withoutSecrets(value, depth + 1);
    if (cleaned === value) continue;
    copy ??= { ...fields };
    copy[name] = cleaned;
  }
  return copy ?? fields;
}

function cleanedList(items: readonly unknown[], depth: number): readonly unknown[] {
  const cleaned = items.map((item) => withoutSecrets(item, depth + 1));
  return cleaned.some((item, index) => item !== items[index]) ? cleaned : items;
}
