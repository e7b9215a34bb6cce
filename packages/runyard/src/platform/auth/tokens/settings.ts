import { z } from 'zod';

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
const claimNames = () => z.array(claimName()).max(100).default([]).meta({ allowed: 'a list of claim names' });

/** The settings about who may call. What they mean together is checked by `checkAuthSettings`. */
export const authSettingsShape = {
  authorization: z
    .boolean()
    .default(false)
    .describe('Whether every request needs a token whose scopes allow it.'),
  jwtKeys: z
    .array(z.string().min(1).max(20_000))
    .max(100)
    .default([])
    .meta({ allowed: 'a list of secrets, or of public keys in PEM text' })
    .describe('Keys that verify tokens: secrets, or public keys in PEM text.'),
  jwtAlgorithms: z
    .array(z.enum(signatureAlgorithms))
    .min(1)
    .optional()
    .meta({ allowed: `a list of ${signatureAlgorithms.join(', ')}` })
    .describe('Accepted signature algorithms; when left out, those that suit jwtKeys, and RS256 for a JWKS.'),
  jwksFile: z
    .string()
    .min(1)
    .optional()
    .describe('A file with a JWKS that verifies tokens; reread when it changes.'),
  jwksUrl: z
    .url({ protocol: /^https?$/ })
    .refine((url) => !/^https?:\/\/[^/?#]*@/i.test(url))
    .optional()
    .meta({
      allowed:
        'an address such as https://issuer.example/.well-known/jwks.json, without a user name and a password',
    })
    .describe("The address of an issuer's JWKS; fetched for the first token, and again as keys change."),
  jwtAudience: z
    .array(z.string().min(1).max(1000))
    .max(100)
    .default([])
    .meta({ allowed: 'a list of texts' })
    .describe('Accepted audiences: the aud of a token must contain one of them.'),
  jwtVerifyAudience: z
    .boolean()
    .default(false)
    .describe(
      'Whether the service checks aud when jwtAudience is empty: it must then contain the identifier of this service.',
    ),
  jwtIssuer: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe('The required issuer (iss) of a token; not checked when left out.'),
  jwtLeewaySeconds: z
    .int()
    .min(0)
    .max(300)
    .default(10)
    .describe('How far the clocks of the issuer and this service may differ.'),
  jwtValidate: z
    .boolean()
    .default(true)
    .describe(
      'Whether the service verifies tokens; false only behind a gateway that verifies them, and with trustUnverifiedTokens.',
    ),
  trustUnverifiedTokens: z
    .boolean()
    .default(false)
    .describe('Confirms jwtValidate: false: anyone who can reach the port can then act as any user.'),
  userIdClaim: claimName().default('sub').describe('The claim that identifies the caller.'),
  sessionIdClaim: claimName()
    .default('session_id')
    .describe("The claim that fixes the session of a caller's runs."),
  scopesClaim: claimName()
    .default('scopes')
    .describe('The claim with the scopes; the service also reads scope.'),
  sessionStateClaims: claimNames().describe('Claims that replace the session_state of a run.'),
  dependenciesClaims: claimNames().describe('Claims that replace the dependencies of a run.'),
  tokenSource: z
    .enum(['header', 'cookie', 'both'])
    .default('header')
    .describe(
      'Where the service looks for a token: the Authorization header, a cookie, or both, the header first.',
    ),
  tokenCookie: z
    .string()
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/)
    .default('access_token')
    .meta({ allowed: 'the name of a cookie' })
    .describe('The cookie that holds the token.'),
  adminScope: z
    .string()
    .regex(/^\S{1,200}$/)
    .default('agent_os:admin')
    .meta({ allowed: 'a text without blanks' })
    .describe('The scope that allows everything.'),
  userIsolation: z
    .boolean()
    .optional()
    .describe('Whether callers see only their own data; on with authorization when left out.'),
  securityKey: z
    .string()
    .regex(/^[\x21-\x7e]{1,1000}$/)
    .optional()
    .meta({ allowed: 'a text of printable ASCII characters without blanks' })
    .describe('One shared token, where there are no JWTs.'),
  publicPaths: z
    .array(z.string().regex(/^\/[^\s?#]*$/))
    .max(100)
    .default([])
    .meta({ allowed: 'a list of paths such as /info' })
    .describe('Paths that need no token, besides /health and /openapi.json.'),
};

type AuthSettingsOutput = z.output<z.ZodObject<typeof authSettingsShape>>;

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
