import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** Encrypts tokens with a key from a secret of the operator: a stolen database gives no token away. */
export class Sealing {
  readonly #key: Uint8Array;

  constructor(secret: string) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, '', 'runyard slack token', 32));
  }

  /** `of`: what the token belongs to. It cannot be opened for anything else. */
  seal(token: string, of: string): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, this.#key, iv).setAAD(Buffer.from(of));
    const sealed = Buffer.concat([cipher.update(token, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** Undefined when it was sealed with another secret, or for something else. */
  open(sealed: string, of: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < ivBytes + tagBytes) return undefined;
    try {
      const decipher = createDecipheriv(algorithm, this.#key, bytes.subarray(0, ivBytes))
        .setAAD(Buffer.from(of))
        .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
      return decipher.update(bytes.subarray(ivBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      return undefined;
    }
  }
}
