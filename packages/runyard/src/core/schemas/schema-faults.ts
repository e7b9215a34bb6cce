import type { ErrorObject } from 'ajv/dist/2020.js';

export interface SchemaFault {
  readonly path: readonly (string | number)[];
  readonly kind: 'missing' | 'unknown' | 'unfit';
  readonly message: string;
}

/** One line that shows a person or a model how to fix the fault. */
export function faultText({ path, message }: SchemaFault): string {
  return `${path.length === 0 ? 'the value' : path.join('.')}: ${message}`;
}

/**
 * What the compiled validator found, in our words. That none of the alternatives fits, and that the value could
 * also be null, is left out where a fault says what to fix.
 */
export function faultsOf(errors: readonly ErrorObject[]): SchemaFault[] {
  const telling = errors.filter(
    ({ keyword, params }) => keyword !== 'anyOf' && !(keyword === 'type' && params.type === 'null'),
  );
  return (telling.length > 0 ? telling : errors).map(faultOf);
}

function faultOf(error: ErrorObject): SchemaFault {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  if (error.keyword === 'required') {
    return { path: [...path, error.params.missingProperty], kind: 'missing', message: 'is required' };
  }
  if (error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties') {
    const name = error.params.additionalProperty ?? error.params.unevaluatedProperty;
    return { path: [...path, name], kind: 'unknown', message: 'is not known' };
  }
  const allowed = error.keyword === 'enum' ? `: ${JSON.stringify(error.params.allowedValues)}` : '';
  return { path, kind: 'unfit', message: `${error.message ?? 'does not fit'}${allowed}` };
}
