import { z } from 'zod';

/**
 * A schema that is made when something first looks into it. A service has thousands of schemas and a start needs none.
 * It is the same object before and after, so that others can be made with it at any time. When `make` throws, the next
 * look calls it again. `make` may refer to the schema, but must not look into it. `meta` is what `.meta()` would set on a
 * copy of the schema.
 */
export function lazySchema<Schema extends z.ZodType>(make: () => Schema, meta?: z.core.GlobalMeta): Schema {
  const become = () => {
    const made = make();
    Object.setPrototypeOf(schema, Object.getPrototypeOf(made));
    // as zod clones a schema, but into the object that others have already
    Reflect.apply(made._zod.constr, schema, [made._zod.def]);
    schema._zod.parent = made._zod.parent;
    z.globalRegistry.add(schema, { ...z.globalRegistry.get(made), ...meta });
    return schema;
  };
  const unmade = new Proxy(
    {},
    {
      get: (_target, name) => Reflect.get(become(), name),
      has: (_target, name) => Reflect.has(become(), name),
    },
  );
  const schema: Schema = Object.create(unmade);
  return schema;
}

/** An object whose fields are made when something first looks into it. */
export function lazyObject<Shape extends z.core.$ZodLooseShape>(
  fields: () => Shape,
  meta?: z.core.GlobalMeta,
) {
  return lazySchema(() => z.object(fields()), meta);
}
