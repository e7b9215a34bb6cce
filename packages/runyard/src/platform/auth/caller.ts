/**
 * Which rows a request may see. Every store method that answers a caller takes one, so that a query that
 * forgets it does not type-check.
 */
export type DataScope =
  | { readonly kind: 'all' }
  /** Only rows that belong to this user. */
  | { readonly kind: 'user'; readonly userId: string };

/** Who makes a request. Resolved once, before any agent code, and handed on as a value. */
export interface Caller {
  /** The identity that a token proved; null for an anonymous caller. */
  readonly userId: string | null;
  readonly scope: DataScope;
}

/** The caller of a service without authorization: may name any user. */
export const anonymousCaller: Caller = { userId: null, scope: { kind: 'all' } };
