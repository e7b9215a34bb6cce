import { z } from 'zod';

/**
 * An object whose fields are made at its first use. The schemas of all routes are thousands of fields, of which a start
 * needs none. `meta` is what `.meta()` would set on a copy of the object.
 */
export function lazyObject<Shape extends z.ZodRawShape>(
  fields: () => Shape,
  meta?: z.core.GlobalMeta,
): z.ZodObject<Shape> {
  let shape: Shape | undefined;
  const object = new z.ZodObject({
    type: 'object',
    get shape() {
      shape ??= fields();
      // a value from now on: while zod cannot look into it, it takes each object for one that may be inside itself
      Object.defineProperty(this, 'shape', { value: shape });
      return shape;
    },
  });
  if (meta !== undefined) z.globalRegistry.add(object, meta);
  // the constructor forgets the names of the fields
  return object as z.ZodObject<Shape>;
}
