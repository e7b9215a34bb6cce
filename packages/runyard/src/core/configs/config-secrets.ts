import { isJsonObject, type Json } from '../json.js';
import { holdsSecret, isSecretName } from '../secret-names.js';
import type { ConfigFault } from './component-config.js';
import { pathWithin } from './reading.js';

const mostFaults = 20;

interface Place {
  readonly value: Json;
  readonly path: string;
  /** Whether the name of a key around it says that it is a secret. */
  readonly named: boolean;
  /** Whether it is part of a JSON schema, whose keys name fields and not their values. */
  readonly inSchema: boolean;
}

const schemaPlaces = /^(?:input_schema|output_schema|tools\[\d+\]\.parameters|steps\[.*\.user_input_schema)$/;

/** Keywords of a schema that hold values of the field. */
const valueKeywords = new Set(['default', 'const', 'examples']);

/** Where a configuration holds a secret. The faults name the place and never repeat what is there. */
export function secretFaults(config: Json): ConfigFault[] {
  const faults: ConfigFault[] = [];
  const open: Place[] = [{ value: config, path: '', named: false, inSchema: false }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { value, path, named, inSchema } = place;
    if (faults.length >= mostFaults) break;
    if (isPlain(value)) {
      if (isSecret(place)) faults.push({ path, message: refusal });
    } else if (Array.isArray(value)) {
      const entries = value.map((one, index) => ({ value: one, path: `${path}[${index}]`, named, inSchema }));
      open.push(...entries.reverse());
    } else if (isJsonObject(value)) {
      const inside: Place[] = [];
      for (const [key, one] of Object.entries(value)) {
        if (holdsSecret(key)) faults.push({ path, message: `has a key that looks like a secret. ${advice}` });
        else {
          const within = pathWithin(path, key);
          inside.push({
            value: one,
            path: within,
            named: named || isSecretName(key),
            inSchema: (inSchema && !valueKeywords.has(key)) || schemaPlaces.test(within),
          });
        }
      }
      open.push(...inside.reverse());
    }
  }
  return faults;
}

const advice = 'Secrets are not stored: set them up in the code or the environment of the service.';
const refusal = `holds a secret. ${advice}`;

function isPlain(value: Json): value is string | number | boolean | null {
  return typeof value !== 'object' || value === null;
}

function isSecret({ value, named, inSchema }: Place): boolean {
  if (typeof value === 'string' && holdsSecret(value)) return true;
  const isValue = typeof value === 'number' || (typeof value === 'string' && value !== '');
  return isValue && named && !inSchema;
}
