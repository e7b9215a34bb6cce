import { json, kind, listOf, objectOf, required, text } from '../core/options/kinds.js';
import type { NamedCaller } from '../platform/auth/identity.js';
import { isReservedUser } from '../platform/auth/named-user.js';

/** What `app.as()` takes. */
export const callerOptions = objectOf<NamedCaller>({
  userId: required(
    kind(
      'the id of a user, which is not empty and no name of the service itself',
      (value) => typeof value === 'string' && value !== '' && !isReservedUser(value),
    ),
  ),
  scopes: listOf(text),
  claims: json,
});
