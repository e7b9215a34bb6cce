import { signedWithSecret } from '../../support/clients/issuer.js';

const secret = 'a secret that is known to this test alone';

/** The settings of a service that takes the tokens of these tests. */
export const tokenSettings = { authorization: true, jwtKeys: [secret] };

interface TokenFacts {
  readonly scopes?: readonly string[];
  /** A token without a subject when it is left out. */
  readonly subject?: string;
}

/** The header of a caller who holds a token. */
export async function bearer({ scopes = [], subject }: TokenFacts): Promise<Record<string, string>> {
  const claims = { scopes: [...scopes], ...(subject !== undefined && { sub: subject }) };
  return { authorization: `Bearer ${await signedWithSecret(secret, claims)}` };
}
