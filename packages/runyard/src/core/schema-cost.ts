import { isJsonObject, type JsonSchema } from './json.js';
import { referenced, subschemasOf } from './subschemas.js';

/** How deep a value may nest that is checked against a caller's schema. */
export const deepestValue = 64;
/** How many schemas may lead to one another in a row: the validator is built, and runs, as deep as that. */
const longestWay = 500;

export interface SchemaCost {
  /** How many checks a single value (a whole, or one part of it) can take at most. */
  readonly checks: number;
  /** Why the number of checks has no bound that is worth the name. */
  readonly fault?: string;
}

/**
 * What it can cost to check a value against a schema. Where the same part of a value is reached on more than one
 * way (alternatives, references beside properties), the ways multiply with each level; they are counted here
 * without going them.
 */
export function schemaCost(root: JsonSchema): SchemaCost {
  try {
    return { checks: new CostCounter(root).count() };
  } catch (error) {
    if (error instanceof EndlessSchema) return { checks: Number.POSITIVE_INFINITY, fault: error.message };
    throw error;
  }
}

class EndlessSchema extends Error {}

/** A way from a schema to another one, for the same value or for a part of it. */
interface Way {
  readonly target: SchemaNode;
  readonly part?: string;
}

interface SchemaNode {
  readonly place: string;
  /** The checks of this schema alone. */
  readonly weight: number;
  readonly ways: Way[];
  /** In which order the search for circles came here, and the earliest node that is reached from here. */
  order: number;
  earliest: number;
  circle?: Circle;
  sameValue?: number | 'being counted';
  parts?: Parts;
}

/** Schemas that lead to each other, most often a single one that leads nowhere back. */
interface Circle {
  readonly nodes: SchemaNode[];
  readonly isRound: boolean;
  checks: number;
  longest: number;
}

/** The checks that each part of a value takes: ways that stay in the circle, and checks outside of it. */
type Parts = Map<string, { inside: number; outside: number }>;

class CostCounter {
  readonly #nodes = new Map<JsonSchema, SchemaNode>();
  readonly #stack: SchemaNode[] = [];
  #visited = 0;

  constructor(readonly root: JsonSchema) {}

  count(): number {
    const start = this.#node(this.root, '#');
    this.#search(start);
    return (start.circle as Circle).checks;
  }

  #node(schema: JsonSchema, place: string): SchemaNode {
    let node = this.#nodes.get(schema);
    if (node === undefined) {
      node = { place, weight: weightOf(schema), ways: [], order: 0, earliest: 0 };
      this.#nodes.set(schema, node);
      this.#addWays(node, schema);
    }
    return node;
  }

  #addWays(node: SchemaNode, schema: JsonSchema): void {
    for (const { keyword, key, schema: inner, about } of subschemasOf(schema)) {
      if (about === 'nothing' || !isJsonObject(inner)) continue;
      const place = [node.place, keyword, ...(key === undefined ? [] : [key])].join('/');
      const target = this.#node(inner, place);
      node.ways.push(about === 'same' ? { target } : { target, part: about.part });
    }
    const target = referenced(this.root, schema.$ref);
    if (isJsonObject(target)) node.ways.push({ target: this.#node(target, String(schema.$ref)) });
  }

  /** Tarjan's search: circles are found after all that they lead to. */
  #search(node: SchemaNode): void {
    node.order = node.earliest = ++this.#visited;
    this.#stack.push(node);
    for (const { target } of node.ways) {
      if (target.order === 0) this.#search(target);
      if (target.circle === undefined) node.earliest = Math.min(node.earliest, target.earliest);
    }
    if (node.earliest < node.order) return;
    const nodes = this.#stack.splice(this.#stack.indexOf(node));
    const isRound = nodes.length > 1 || node.ways.some(({ target }) => target === node);
    const circle: Circle = { nodes, isRound, checks: 0, longest: 0 };
    for (const member of nodes) member.circle = circle;
    circle.longest = nodes.length + longestAfter(nodes);
    if (circle.longest > longestWay) {
      throw new EndlessSchema(`${node.place}: more than ${longestWay} schemas lead to one another in a row`);
    }
    circle.checks = this.#checksOf(circle);
  }

  #checksOf(circle: Circle): number {
    let most = 0;
    let mostBesides = 0;
    for (const node of circle.nodes) {
      most = Math.max(most, this.#sameValue(node));
      const parts = this.#parts(node);
      const anywhere = { member: parts.get('member *'), item: parts.get('item *') };
      for (const [part, { inside, outside }] of parts) {
        const kind = part.startsWith('member ') ? 'member' : 'item';
        const any = part === 'name' || part === `${kind} *` ? undefined : anywhere[kind];
        const again = inside + (any?.inside ?? 0);
        const besides = outside + (any?.outside ?? 0);
        if (again > 1) {
          throw new EndlessSchema(
            `${node.place} leads to itself on more than one way for the same ${kind}: the checks double with each level`,
          );
        }
        most = Math.max(most, besides);
        if (again === 1) mostBesides = Math.max(mostBesides, besides);
      }
    }
    return circle.isRound ? most + deepestValue * mostBesides : most;
  }

  #sameValue(node: SchemaNode): number {
    if (node.sameValue === 'being counted') {
      throw new EndlessSchema(`${node.place} refers to itself for the same value: the check would never end`);
    }
    if (node.sameValue === undefined) {
      node.sameValue = 'being counted';
      let checks = node.weight;
      for (const { target, part } of node.ways) if (part === undefined) checks += this.#sameValue(target);
      node.sameValue = checks;
    }
    return node.sameValue;
  }

  #parts(node: SchemaNode): Parts {
    if (node.parts !== undefined) return node.parts;
    const parts: Parts = new Map();
    node.parts = parts;
    const add = (part: string, inside: number, outside: number): void => {
      const known = parts.get(part);
      if (known === undefined) parts.set(part, { inside, outside });
      else {
        known.inside += inside;
        known.outside += outside;
      }
    };
    for (const { target, part } of node.ways) {
      const circle = target.circle as Circle;
      const stays = circle === node.circle;
      if (part !== undefined) add(part, stays ? 1 : 0, stays ? 0 : circle.checks);
      else {
        for (const [inner, { inside, outside }] of this.#parts(target)) {
          if (stays) add(inner, inside, outside);
          else add(inner, 0, outside + (inside > 0 ? inside * circle.checks : 0));
        }
      }
    }
    return parts;
  }
}

function longestAfter(nodes: readonly SchemaNode[]): number {
  let longest = 0;
  for (const { ways } of nodes) {
    for (const { target } of ways) longest = Math.max(longest, target.circle?.longest ?? 0);
  }
  return longest;
}

/** Each allowed value is one more comparison; each default is written into every object that lacks it. */
function weightOf(schema: JsonSchema): number {
  let weight = 1 + valuesIn(schema.enum) + valuesIn(schema.const);
  if (isJsonObject(schema.properties)) {
    for (const property of Object.values(schema.properties)) {
      if (isJsonObject(property) && property.default !== undefined)
        weight += JSON.stringify(property.default).length;
    }
  }
  return weight;
}

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : 1;
  let count = 1;
  for (const inner of Object.values(value)) count += valuesIn(inner);
  return count;
}
