import { JWSSignatureVerificationFailed } from 'jose/errors';
import { compactVerify } from 'jose/jws/compact/verify';
import { errors } from '../../../core/errors/errors.js';
import type { VerificationKey } from './keys.js';
import type { SignatureAlgorithm } from './settings.js';

/** The payload of a token; undefined when the key did not sign it. */
export async function signedPayload(
  token: string,
  key: VerificationKey,
  algorithm: SignatureAlgorithm,
): Promise<Uint8Array | undefined> {
  try {
    const { payload } = await compactVerify(token, await key.forAlgorithm(algorithm), {
      algorithms: [algorithm],
    });
    return payload;
  } catch (error) {
    if (error instanceof JWSSignatureVerificationFailed) return undefined;
    throw errors.undecodableToken('the signature cannot be checked', error);
  }
}
