import type { z } from 'zod';

/** The fields of a query as code gives them: numbers and booleans where the wire has them as text. */
export type Query<Schema extends z.ZodType> = {
  readonly [Name in keyof z.output<Schema>]?: z.output<Schema>[Name] | undefined;
};

/** A body as code gives it. */
export type Body<Schema extends z.ZodType> = z.input<Schema>;
