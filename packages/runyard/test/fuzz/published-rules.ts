import type { ValidateFunction } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Description } from '../support/clients/api-check.js';
import type { Operation, Parameter, Schema } from './description.js';
import type { FuzzRequest } from './exchange/request.js';

/** Finds requests that break a rule that the service itself has published. */
export class PublishedRules {
  private readonly ajv = new Ajv2020({ strict: false });
  private readonly compiled = new Map<Schema, ValidateFunction>();

  constructor(description: Description) {
    formats.default(this.ajv);
    this.ajv.addSchema({ $id: 'api', components: description.components });
  }

  /** The rule that a request breaks for sure, if it does: the service must refuse it. */
  breach(operation: Operation, request: FuzzRequest): string | undefined {
    if (request.method !== operation.method || Object.values(request.path).includes('')) return undefined;
    for (const parameter of operation.parameters.filter((one) => one.in === 'query')) {
      const sent = request.query.findLast(([name]) => name === parameter.name)?.[1];
      if (sent !== undefined && isBeyond(parameter, sent)) return `${parameter.name}=${sent}`;
    }
    return this.#bodyBreach(operation, request);
  }

  #bodyBreach({ bodies }: Operation, { body }: FuzzRequest): string | undefined {
    const schema = bodies.find(([contentType]) => contentType === 'application/json')?.[1];
    if (schema === undefined || body?.kind !== 'json') return undefined;
    const validate = this.#validate(schema);
    if (validate(body.value)) return undefined;
    const [first] = validate.errors ?? [];
    return `a body of which${first?.instancePath ?? ''} ${first?.message}`;
  }

  #validate(schema: Schema): ValidateFunction {
    const known = this.compiled.get(schema);
    if (known) return known;
    // references of the description point to its own components
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/');
    const validate = this.ajv.compile(JSON.parse(text) as Schema);
    this.compiled.set(schema, validate);
    return validate;
  }
}

/** A number beyond its bounds. */
function isBeyond({ schema: { type, minimum, maximum } }: Parameter, text: string): boolean {
  if (type !== 'integer' || !/^-?\d+$/.test(text)) return false;
  const value = Number(text);
  return value < (minimum ?? value) || value > (maximum ?? value);
}
