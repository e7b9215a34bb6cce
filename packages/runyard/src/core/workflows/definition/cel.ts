import { createRequire } from 'node:module';
import type * as CelModule from '@marcbachmann/cel-js';
import { errors } from '../../errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../json.js';

/** A checked text of the Common Expression Language. */
export class Expression {
  constructor(
    readonly text: string,
    private readonly program: (variables: Record<string, unknown>) => unknown,
  ) {}

  evaluate(variables: JsonObject): Json {
    const values = Object.entries(variables).map(([name, value]) => [name, toCel(value)]);
    return fromCel(this.program(Object.fromEntries(values)));
  }
}

const shared = [
  'input',
  'previous_step_content',
  'previous_step_outputs',
  'additional_data',
  'session_state',
] as const;

const known = {
  condition: shared,
  router: [...shared, 'step_choices'],
  loop: [
    ...shared,
    'current_iteration',
    'max_iterations',
    'all_success',
    'last_step_content',
    'step_outputs',
  ],
} as const;

/** What an expression is for: each place has variables of its own. */
export type ExpressionPlace = keyof typeof known;

let library: typeof CelModule | undefined;
const environments = new Map<ExpressionPlace, CelModule.Environment>();

/** Reads an expression. One that cannot be understood is refused, with the name of the step that it belongs to. */
export function compileExpression(text: string, place: ExpressionPlace, owner: string): Expression {
  try {
    const program = environmentOf(place).parse(text);
    const { valid, error, type } = program.check();
    if (!valid) throw error;
    const wanted = place === 'router' ? ['string', 'list', 'dyn'] : ['bool', 'dyn'];
    if (type !== undefined && !wanted.some((name) => type.startsWith(name)))
      throw new Error(
        `it gives a value of the type ${type}, not ${place === 'router' ? 'the name of a choice' : 'true or false'}`,
      );
    return new Expression(text, program);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    throw errors.invalidConfig(
      `${owner} has the CEL text '${text}', which cannot be used: ${reason}. Its variables are: ${known[place].join(', ')}.`,
    );
  }
}

function environmentOf(place: ExpressionPlace): CelModule.Environment {
  let environment = environments.get(place);
  if (environment === undefined) {
    // loaded with the first expression: most applications have none
    library ??= createRequire(import.meta.url)('@marcbachmann/cel-js') as typeof CelModule;
    environment = new library.Environment({ homogeneousAggregateLiterals: false });
    for (const name of known[place]) environment.registerVariable(name, 'dyn');
    environments.set(place, environment);
  }
  return environment;
}

/** CEL distinguishes whole numbers from others and does not add the two. */
function toCel(value: Json): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, toCel(part)]));
}

function fromCel(value: unknown): Json {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(fromCel);
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return value;
  return null;
}
