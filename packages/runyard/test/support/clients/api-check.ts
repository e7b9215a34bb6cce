import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

type Schema = Record<string, unknown>;
interface ResponseObject {
  readonly $ref?: string;
  readonly content?: Record<string, { readonly schema?: Schema }>;
}
interface Operation {
  readonly responses: Record<string, ResponseObject>;
}
export interface Description {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation & Record<string, unknown>>>;
  readonly components: { readonly schemas: Schema; readonly responses: Record<string, ResponseObject> };
}

/** Paths outside the description of the API, which promises nothing about them. */
const outside = [/^\/openapi\.json$/, /^\/docs(\/.*)?$/, /^\/console(\/.*)?$/];

/** Checks every answer against what the service itself publishes about it. */
export class ApiCheck {
  #description: Description | undefined;

  private constructor(
    private readonly text: string,
    private readonly answers: AnswerCheck,
  ) {}

  private static readonly known = new Map<string, AnswerCheck>();

  /**
   * To compile a description takes long, and most services have the same one but for the examples of their own
   * components in it.
   */
  static of(text: string): ApiCheck {
    const rules = text.slice(text.indexOf('"paths":')).replace(/,"example":"(?:[^"\\]|\\.)*"/g, '');
    const answers = ApiCheck.known.get(rules) ?? new AnswerCheck(JSON.parse(text) as Description);
    ApiCheck.known.set(rules, answers);
    return new ApiCheck(text, answers);
  }

  private static readonly byRoutes = new WeakMap<object, Promise<ApiCheck>>();

  /**
   * The same for a service with these routes. They alone decide what it publishes, but for the examples: what `read` reads
   * of one service holds for all that have them.
   */
  static ofRoutes(routes: object, read: () => Promise<string>): Promise<ApiCheck> {
    const known = ApiCheck.byRoutes.get(routes) ?? read().then((text) => ApiCheck.of(text));
    ApiCheck.byRoutes.set(routes, known);
    known.catch(() => ApiCheck.byRoutes.delete(routes));
    return known;
  }

  get description(): Description {
    this.#description ??= JSON.parse(this.text) as Description;
    return this.#description;
  }

  /** Throws when the answer is one that the description does not announce. */
  check(method: string, path: string, status: number, contentType: string, body: string): void {
    this.answers.check(method, path, status, contentType, body);
  }
}

class AnswerCheck {
  // To optimise the code takes longer than the few answers that each schema checks.
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } });
  private readonly compiled = new Map<Schema, ValidateFunction>();
  private readonly paths: readonly (readonly [RegExp, Record<string, Operation>])[];

  constructor(private readonly description: Description) {
    formats.default(this.ajv);
    this.ajv.addSchema({ $id: 'api', components: description.components });
    this.paths = Object.entries(description.paths).map(([template, methods]) => [
      new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`),
      methods,
    ]);
  }

  check(method: string, path: string, status: number, contentType: string, body: string): void {
    const plain = path.replace(/\?.*$/, '').replace(/(?<=.)\/+$/, '');
    if (outside.some((pattern) => pattern.test(plain))) return;
    const at = `${method} ${plain} answered ${status}`;
    const operation = this.operation(method, plain);
    if (operation === undefined) {
      if (status < 400) throw new Error(`${at}, but no such operation is published`);
      this.fits({ $ref: '#/components/schemas/Problem' }, JSON.parse(body), at);
      return;
    }
    const published = operation.responses[status];
    if (published === undefined) throw new Error(`${at}, which its published description does not list`);
    const { content = {} } = this.resolved(published);
    if (body === '' && Object.keys(content).length === 0) return;
    const type = contentType.split(';', 1)[0]!.trim();
    const media = content[type];
    if (media === undefined) {
      throw new Error(
        `${at} as ${contentType}, but published are ${Object.keys(content).join(', ') || 'none'}`,
      );
    }
    if (type === 'application/json' && media.schema) this.fits(media.schema, JSON.parse(body), at);
  }

  /** Of a path that two templates fit, the one counts that has the method: `users` may be an id as well. */
  private operation(method: string, path: string): Operation | undefined {
    return this.paths
      .filter(([pattern]) => pattern.test(path))
      .map(([, methods]) => methods[method.toLowerCase()])
      .find((operation) => operation !== undefined);
  }

  private resolved(response: ResponseObject): ResponseObject {
    if (response.$ref === undefined) return response;
    const name = response.$ref.replace('#/components/responses/', '');
    const found = this.description.components.responses[name];
    if (!found) throw new Error(`The description refers to ${response.$ref}, which is not there`);
    return found;
  }

  private fits(schema: Schema, value: unknown, at: string): void {
    let validate = this.compiled.get(schema);
    if (!validate) {
      // references of the description point to its own components
      const text = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/');
      validate = this.ajv.compile(JSON.parse(text) as Schema);
      this.compiled.set(schema, validate);
    }
    if (!validate(value)) throw new Error(`${at} with a body that does not fit: ${faults(validate.errors)}`);
  }
}

function faults(errors: ErrorObject[] | null | undefined): string {
  return (errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`).join('; ');
}
