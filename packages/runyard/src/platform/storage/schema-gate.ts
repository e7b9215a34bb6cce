import type { Kysely, KyselyPlugin } from 'kysely';
import type { RunyardError } from '../../core/errors/errors.js';
import type { Database } from './database.js';
import type { Schema } from './schema.js';

/**
 * A database as the parts of a service use it. While it is closed, because its schema is one that this code does not
 * know, every write is refused before it is made; reads pass. Migrations and looks at the schema use `inner`.
 */
export class SchemaGate {
  readonly database: Database;
  #refusal: RunyardError | undefined;
  #query: Kysely<Schema> | undefined;

  constructor(readonly inner: Database) {
    const passed =
      <Arguments extends unknown[], Result>(call: (...given: Arguments) => Promise<Result>) =>
      (...given: Arguments) =>
        this.#refusal === undefined ? call(...given) : Promise.reject(this.#refusal);
    const refusing: KyselyPlugin = {
      transformQuery: ({ node }) => {
        if (node.kind !== 'SelectQueryNode') this.#assertOpen();
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const query = () => {
      this.#query ??= inner.query.withPlugin(refusing);
      return this.#query;
    };
    // everything else is that of the database itself
    this.database = Object.create(inner, {
      query: { get: query },
      change: { value: passed(inner.change) },
      write: { value: passed<never[], unknown>(inner.write) },
      ...(inner.dialect === 'sqlite' && { script: { value: passed(inner.script) } }),
      transaction: { value: passed(inner.transaction) },
      assertWritable: {
        value: () => {
          this.#assertOpen();
          return inner.assertWritable();
        },
      },
    });
  }

  close(refusal: RunyardError): void {
    this.#refusal = refusal;
  }

  open(): void {
    this.#refusal = undefined;
  }

  #assertOpen(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
  }
}
