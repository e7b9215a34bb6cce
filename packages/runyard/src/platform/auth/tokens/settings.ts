import { z } from 'zod';
import { type SettingsOf, setting } from '../../settings/setting.js';

/** Everything that a token may be signed with. `none` is not among them, whatever is configured. */
export const signatureAlgorithms = [
  'HS256',
  'HS384',
  'HS512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;
export type SignatureAlgorithm = (typeof signatureAlgorithms)[number];

const claimName = () => z.string().min(1).max(200);
const claimNames = (about: string) =>
  setting({
    about,
    default: [],
    allowed: 'a list of claim names',
    schema: () => z.array(claimName()).max(100),
  });

/** The settings about who may call. What they mean together is checked by `checkAuthSettings`. */
export const authSettings = {
  authorization: setting({
    about: 'Whether every request needs a token whose scopes allow it.',
    default: false,
    schema: () => z.boolean(),
  }),
  jwtKeys: setting({
    about: 'Keys that verify tokens: secrets, or public keys in PEM text.',
    default: [],
    allowed: 'a list of secrets, or of public keys in PEM text',
    schema: () => z.array(z.string().min(1).max(20_000)).max(100),
  }),
  jwtAlgorithms: setting({
    about: 'Accepted signature algorithms; when left out, those that suit jwtKeys, and RS256 for a JWKS.',
    allowed: `a list of ${signatureAlgorithms.join(', ')}`,
    schema: () => z.array(z.enum(signatureAlgorithms)).min(1),
  }),
  jwksFile: setting({
    about: 'A file with a JWKS that verifies tokens; reread when it changes.',
    schema: () => z.string().min(1),
  }),
  jwksUrl: setting({
    about: "The address of an issuer's JWKS; fetched for the first token, and again as keys change.",
    allowed:
      'an address such as https://issuer.example/.well-known/jwks.json, without a user name and a password',
    schema: () => z.url({ protocol: /^https?$/ }).refine((url) => !/^https?:\/\/[^/?#]*@/i.test(url)),
  }),
  jwtAudience: setting({
    about: 'Accepted audiences: the aud of a token must contain one of them.',
    default: [],
    allowed: 'a list of texts',
    schema: () => z.array(z.string().min(1).max(1000)).max(100),
  }),
  jwtVerifyAudience: setting({
    about:
      'Whether the service checks aud when jwtAudience is empty: it must then contain the identifier of this service.',
    default: false,
    schema: () => z.boolean(),
  }),
  jwtIssuer: setting({
    about: 'The required issuer (iss) of a token; not checked when left out.',
    schema: () => z.string().min(1).max(1000),
  }),
  jwtLeewaySeconds: setting({
    about: 'How far the clocks of the issuer and this service may differ.',
    default: 10,
    schema: () => z.int().min(0).max(300),
  }),
  jwtValidate: setting({
    about:
      'Whether the service verifies tokens; false only behind a gateway that verifies them, and with trustUnverifiedTokens.',
    default: true,
    schema: () => z.boolean(),
  }),
  trustUnverifiedTokens: setting({
    about: 'Confirms jwtValidate: false: anyone who can reach the port can then act as any user.',
    default: false,
    schema: () => z.boolean(),
  }),
  userIdClaim: setting({ about: 'The claim that identifies the caller.', default: 'sub', schema: claimName }),
  sessionIdClaim: setting({
    about: "The claim that fixes the session of a caller's runs.",
    default: 'session_id',
    schema: claimName,
  }),
  scopesClaim: setting({
    about: 'The claim with the scopes; the service also reads scope.',
    default: 'scopes',
    schema: claimName,
  }),
  sessionStateClaims: claimNames('Claims that replace the session_state of a run.'),
  dependenciesClaims: claimNames('Claims that replace the dependencies of a run.'),
  tokenSource: setting({
    about:
      'Where the service looks for a token: the Authorization header, a cookie, or both, the header first.',
    default: 'header',
    schema: () => z.enum(['header', 'cookie', 'both']),
  }),
  tokenCookie: setting({
    about: 'The cookie that holds the token.',
    default: 'access_token',
    allowed: 'the name of a cookie',
    schema: () => z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/),
  }),
  adminScope: setting({
    about: 'The scope that allows everything.',
    default: 'agent_os:admin',
    allowed: 'a text without blanks',
    schema: () => z.string().regex(/^\S{1,200}$/),
  }),
  userIsolation: setting({
    about: 'Whether callers see only their own data; on with authorization when left out.',
    schema: () => z.boolean(),
  }),
  securityKey: setting({
    about: 'One shared token, where there are no JWTs.',
    allowed: 'a text of printable ASCII characters without blanks',
    schema: () => z.string().regex(/^[\x21-\x7e]{1,1000}$/),
  }),
  publicPaths: setting({
    about: 'Paths that need no token, besides /health and /openapi.json.',
    default: [],
    allowed: 'a list of paths such as /info',
    schema: () => z.array(z.string().regex(/^\/[^\s?#]*$/)).max(100),
  }),
};

type AuthSettingsOutput = SettingsOf<typeof authSettings>;

/** As the service uses them: isolation is decided. */
export type AuthSettings = Omit<AuthSettingsOutput, 'userIsolation'> & { readonly userIsolation: boolean };

/** What checking a token depends on. */
export type TokenSettings = Pick<
  AuthSettings,
  | 'jwtKeys'
  | 'jwtAlgorithms'
  | 'jwksFile'
  | 'jwksUrl'
  | 'jwtAudience'
  | 'jwtVerifyAudience'
  | 'jwtIssuer'
  | 'jwtLeewaySeconds'
  | 'jwtValidate'
  | 'userIdClaim'
  | 'scopesClaim'
>;

/** How callers prove who they are; a JWT wins over the security key. */
export type AuthMode = 'none' | 'security_key' | 'jwt';

export function authMode(settings: AuthSettings): AuthMode {
  if (settings.authorization || hasKeySource(settings) || !settings.jwtValidate) return 'jwt';
  return settings.securityKey === undefined ? 'none' : 'security_key';
}

export function hasKeySource({
  jwtKeys,
  jwksFile,
  jwksUrl,
}: Pick<TokenSettings, 'jwtKeys' | 'jwksFile' | 'jwksUrl'>): boolean {
  return jwtKeys.length > 0 || jwksFile !== undefined || jwksUrl !== undefined;
}
