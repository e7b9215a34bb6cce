import { errors } from '../../../core/errors/errors.js';
import { algorithmsOf, KeyFault, readKeyText, VerificationKey } from './keys.js';
import type { SignatureAlgorithm, TokenSettings } from './settings.js';

type KeySettings = Pick<TokenSettings, 'jwtKeys' | 'jwtAlgorithms' | 'jwksFile' | 'jwksUrl'>;

export interface StaticKeys {
  readonly keys: readonly VerificationKey[];
  /** All algorithms that tokens may be signed with. */
  readonly algorithms: ReadonlySet<SignatureAlgorithm>;
}

/** The keys of the settings and the algorithms in use. Throws what is wrong with them, never their text. */
export function readStaticKeys(settings: KeySettings): StaticKeys {
  const read = settings.jwtKeys.map((text, index) => readKey(text, index));
  const algorithms = new Set(settings.jwtAlgorithms ?? usualAlgorithms(settings, read));
  const keys = read.map(({ key, fitting }, index) => {
    const used = fitting.filter((algorithm) => algorithms.has(algorithm));
    if (used.length === 0)
      throw errors.invalidConfig(
        `jwtKeys: key ${index + 1} is for ${fitting.join(', ')}, but jwtAlgorithms has only ${[...algorithms].join(', ')}. Add the algorithm that its tokens are signed with, or remove the key.${neededLength(key, algorithms)}`,
      );
    return new VerificationKey(new Set(used), key);
  });
  checkSecrets(settings, keys, algorithms);
  return { keys, algorithms };
}

function readKey(text: string, index: number) {
  try {
    const key = readKeyText(text);
    return { key, fitting: algorithmsOf(key) };
  } catch (error) {
    if (!(error instanceof KeyFault)) throw error;
    throw errors.invalidConfig(`jwtKeys: key ${index + 1} ${error.message}.`);
  }
}

function neededLength(
  key: ReturnType<typeof readKeyText>,
  algorithms: ReadonlySet<SignatureAlgorithm>,
): string {
  const longer = key.type === 'secret' && (algorithms.has('HS384') || algorithms.has('HS512'));
  return longer ? ' HS384 needs a secret of 48 bytes, HS512 one of 64.' : '';
}

function usualAlgorithms(
  { jwksFile, jwksUrl }: KeySettings,
  read: readonly { readonly fitting: readonly SignatureAlgorithm[] }[],
): SignatureAlgorithm[] {
  const usual = read.flatMap(({ fitting }) => fitting.slice(0, 1));
  return jwksFile !== undefined || jwksUrl !== undefined ? [...usual, 'RS256'] : usual;
}

/** A named algorithm of secrets without any secret is a mistake, of the kind that key confusion lives on. */
function checkSecrets(
  { jwksFile }: KeySettings,
  keys: readonly VerificationKey[],
  algorithms: ReadonlySet<SignatureAlgorithm>,
): void {
  const orphan = [...algorithms].find(
    (algorithm) => algorithm.startsWith('HS') && !keys.some((key) => key.algorithms.has(algorithm)),
  );
  if (orphan !== undefined && jwksFile === undefined)
    throw errors.invalidConfig(
      `jwtAlgorithms has ${orphan}, which needs a secret, and jwtKeys has none for it. Remove ${orphan}, or add the secret to jwtKeys.`,
    );
}
