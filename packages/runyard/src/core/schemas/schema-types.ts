import type { z } from 'zod';
import type { Json, JsonObject } from '../json.js';

/** A value as it is after it was stored as JSON: a date is its text. */
export type JsonOf<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends { toJSON(): infer Text }
    ? Text
    : Value extends object
      ? { [Key in keyof Value]: JsonOf<Value[Key]> }
      : Json;

/** What fits a schema once it was checked and stored; `never` stands for no schema, and gives `Otherwise`. */
export type FittedTo<Schema, Otherwise = string> = [Schema] extends [never]
  ? Otherwise
  : Schema extends z.ZodType
    ? JsonOf<z.output<Schema>>
    : Json;

/** What a value has to be that this schema is to fit; unknown for a JSON schema, and for none, which is `never`. */
export type GivenTo<Schema> = [Schema] extends [never]
  ? unknown
  : Schema extends z.ZodType
    ? z.input<Schema>
    : unknown;

/** What a caller gives to a component with this input schema; `never` stands for no schema. */
export type InputFor<Schema> = [Schema] extends [never]
  ? string | JsonObject
  : Schema extends z.ZodType
    ? z.input<Schema>
    : JsonObject;
