import type { JSONWebKeySet } from 'jose';
import { errors } from '../../core/errors/errors.js';
import type { ClientDocuments } from './client-documents.js';
import type { OauthKeys } from './keys.js';
import { assertionAlgorithms, type OauthClient, type TokenSite } from './schema.js';
import type { OauthStore } from './store.js';

export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

const longestLifeSeconds = 600;
const clockToleranceSeconds = 10;

export interface AssertionSite {
  readonly documents: ClientDocuments;
  readonly keys: OauthKeys;
  readonly store: Pick<OauthStore, 'spend'>;
}

/** Checks the JWT by which a client proves that it is the one of its metadata document (RFC 7523). Once for each JWT. */
export async function checkAssertion(
  client: OauthClient,
  assertion: string,
  { issuer, tokenEndpoint, clientAddress }: TokenSite,
  { documents, keys, store }: AssertionSite,
): Promise<void> {
  const { createLocalJWKSet, jwtVerify } = await import('jose');
  const keySet: unknown =
    client.jwksUri === undefined ? client.jwks : await documents.keysAt(client.jwksUri, clientAddress);
  let payload: { readonly jti?: string | undefined; readonly exp?: number | undefined };
  try {
    // the library checks the shape of the set
    const find = createLocalJWKSet(keySet as JSONWebKeySet);
    ({ payload } = await jwtVerify(assertion, find, {
      algorithms: [...assertionAlgorithms],
      audience: [issuer, tokenEndpoint],
      issuer: client.clientId,
      subject: client.clientId,
      requiredClaims: ['exp', 'jti'],
      clockTolerance: clockToleranceSeconds,
    }));
  } catch {
    throw errors.oauth('invalid_client', 'The client_assertion does not prove who the client is.');
  }
  const { jti = '', exp = 0 } = payload;
  const leftSeconds = exp - Date.now() / 1000;
  if (leftSeconds > longestLifeSeconds)
    throw errors.oauth('invalid_client', `The client_assertion lasts more than ${longestLifeSeconds} s.`);
  const keptMs = Math.ceil((Math.max(leftSeconds, 0) + 2 * clockToleranceSeconds) * 1000);
  if (!(await store.spend(keys.hash('assertion', `${client.clientId} ${jti}`), keptMs)))
    throw errors.oauth('invalid_client', 'The client_assertion was used before.');
}

/** The client that an assertion claims to be of: it says who it is, and the form need not repeat it. */
export async function subjectOf(assertion: string | undefined): Promise<string | undefined> {
  if (assertion === undefined) return undefined;
  const { decodeJwt } = await import('jose');
  try {
    return decodeJwt(assertion).sub;
  } catch {
    return undefined;
  }
}
