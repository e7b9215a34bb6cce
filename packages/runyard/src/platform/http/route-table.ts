import type { HttpMethod, RouteFacts } from './route.js';

interface KnownPath {
  readonly path: string;
  /** Made when a path is looked for that no route took: a start needs none. */
  pattern?: RegExp;
  readonly methods: HttpMethod[];
}

/** The paths of the service, apart from what happens there: for wrong methods, and for clashes. */
export class RouteTable {
  readonly #paths = new Map<string, KnownPath>();

  constructor(routes: readonly Pick<RouteFacts, 'method' | 'path'>[]) {
    for (const { method, path } of routes) {
      const shape = shapeOf(path);
      const known = this.#paths.get(shape) ?? { path, methods: [] };
      if (known.methods.includes(method)) throw new Error(`The route ${method} ${path} is defined twice.`);
      known.methods.push(method);
      this.#paths.set(shape, known);
    }
  }

  /** The methods that a path of ours has; none for a path that is not ours. */
  methodsAt(path: string): readonly HttpMethod[] {
    const methods = new Set<HttpMethod>();
    for (const known of this.#paths.values()) {
      known.pattern ??= patternOf(known.path);
      if (known.pattern.test(path)) for (const method of known.methods) methods.add(method);
    }
    return [...methods].sort();
  }

  /** Whether a route with this pattern stands where one of ours does, whatever its parameters are called. */
  has(method: string, path: string): boolean {
    return this.#paths.get(shapeOf(path))?.methods.some((known) => known === method) ?? false;
  }
}

function shapeOf(path: string): string {
  const plain = path.length > 1 ? path.replace(/\/+$/, '') : path;
  return plain.replace(/::|:\w+/g, (match) => (match === '::' ? '::' : ':'));
}

function patternOf(path: string): RegExp {
  const source = path
    .split(/(::|:\w+|\*$)/)
    .map((part) => {
      if (part === '::') return ':';
      if (part === '*') return '.*';
      return part.startsWith(':') ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    })
    .join('');
  return new RegExp(`^${source}$`);
}
