import { errors } from '../../../core/errors/errors.js';
import { type AuthSettings, authMode, hasKeySource } from './settings.js';
import { readStaticKeys } from './static-keys.js';

const shortestSecurityKey = 16;
/** How the tokens of service accounts begin; nothing else may. */
const serviceAccountPrefix = 'runyard_pat_';

/** Whether the settings about callers fit together. Throws a text that says what to do; it never shows a key. */
export function checkAuthSettings(settings: AuthSettings): void {
  const fault = validationFault(settings) ?? sourceFault(settings) ?? otherFault(settings);
  if (fault !== undefined) throw errors.invalidConfig(fault);
  readStaticKeys(settings);
}

function validationFault({ jwtValidate, trustUnverifiedTokens }: AuthSettings): string | undefined {
  if (jwtValidate || trustUnverifiedTokens) return undefined;
  return 'jwtValidate is false: the service would not verify tokens, and anyone who reaches the port could act as any user. Behind a gateway that verifies them, confirm this with trustUnverifiedTokens: true; otherwise remove jwtValidate.';
}

function sourceFault(settings: AuthSettings): string | undefined {
  if (!settings.jwtValidate || hasKeySource(settings)) return undefined;
  if (settings.authorization)
    return 'authorization is on, but there is no key to verify tokens with. Set jwtKeys (a secret or a public key), jwksFile or jwksUrl.';
  if (settings.jwtAlgorithms !== undefined)
    return 'jwtAlgorithms is set, but there is no key to verify tokens with. Set jwtKeys, jwksFile or jwksUrl, or remove it.';
  return undefined;
}

function otherFault(settings: AuthSettings): string | undefined {
  const { securityKey, userIsolation, publicPaths } = settings;
  if (userIsolation && authMode(settings) !== 'jwt')
    return 'userIsolation is on, but the service cannot distinguish callers. Set authorization and a key (jwtKeys, jwksFile or jwksUrl), or remove userIsolation.';
  if (securityKey !== undefined && securityKey.length < shortestSecurityKey)
    return `securityKey has ${securityKey.length} characters and can be guessed. Give ${shortestSecurityKey} or more, such as the output of: openssl rand -hex 32`;
  if (securityKey?.startsWith(serviceAccountPrefix))
    return `securityKey begins with ${serviceAccountPrefix}, the prefix of service account tokens. Choose another.`;
  if (publicPaths.some((path) => /^\/\*+$/.test(path)))
    return 'publicPaths opens every path. Name the paths that need no token, such as /info.';
  return undefined;
}
