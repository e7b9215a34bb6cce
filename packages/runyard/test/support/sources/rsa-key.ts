import { createVerify, generateKeyPairSync } from 'node:crypto';

/** Making one takes long: all tests of a process share it. */
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

export function privateKeyIn(type: 'pkcs1' | 'pkcs8'): string {
  return privateKey.export({ type, format: 'pem' }).toString();
}

/** What a JWT says, if the key signed it. */
export function verifiedClaims(jwt: string): Readonly<Record<string, unknown>> | undefined {
  const [head, claims, signature] = jwt.split('.');
  const isSigned = createVerify('RSA-SHA256')
    .update(`${head}.${claims}`)
    .verify(publicKey, signature!, 'base64url');
  return isSigned ? JSON.parse(Buffer.from(claims!, 'base64url').toString()) : undefined;
}
