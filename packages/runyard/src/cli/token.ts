import { randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { routes } from '../capabilities/capabilities.js';
import { RunyardError } from '../core/errors/errors.js';
import { type Json, type JsonObject, parseJson } from '../core/json.js';
import { silentLog } from '../core/log.js';
import { nearestName } from '../core/nearest-name.js';
import { parseScope, prioritizeScope } from '../platform/auth/rights.js';
import { checkAuthSettings } from '../platform/auth/tokens/check-settings.js';
import { hasKeySource } from '../platform/auth/tokens/settings.js';
import { readStaticKeys } from '../platform/auth/tokens/static-keys.js';
import { TokenVerifier } from '../platform/auth/tokens/verifier.js';
import { serviceIdOf } from '../platform/service-id.js';
import { loadSettings, type Settings } from '../platform/settings/config.js';
import { readDotEnv } from './dot-env.js';
import { CommandFailure } from './failure.js';
import { findEntry, loadEntry } from './load-entry.js';
import { configure } from './setting-flags.js';
import { withoutOutput } from './without-output.js';

export interface TokenFlags {
  readonly user: string;
  readonly scopes?: string;
  readonly admin?: boolean;
  readonly expires: string;
  readonly claim: readonly string[];
  readonly config?: string;
}

/** Prints a token for development. Standard output gets the token and nothing else. */
export async function token(entry: string | undefined, flags: TokenFlags): Promise<void> {
  const seconds = secondsOf(flags.expires);
  const settings = await withoutOutput(() => settingsOf(entry, flags));
  const signing = signingSecret(settings);
  const scopes = scopesOf(flags, settings);
  const issuedAt = Math.floor(Date.now() / 1000);
  const times = { iat: issuedAt, exp: issuedAt + seconds };
  const claims = claimsOf(flags, settings, scopes, times);
  const signed = await new SignJWT(claims)
    .setProtectedHeader({ alg: signing.algorithm, typ: 'JWT' })
    .sign(new TextEncoder().encode(signing.secret));
  await verify(signed, settings, flags.user);
  console.error(explanation(flags.user, scopes, times.exp, settings));
  process.stdout.write(`${signed}\n`);
}

/** Of the application that would be served here; without one, of the file and the environment alone. */
async function settingsOf(entry: string | undefined, { config }: TokenFlags): Promise<Settings> {
  const file = entryOf(entry);
  if (file === undefined) {
    readDotEnv(process.cwd());
    const sources = { env: process.env, cwd: process.cwd(), ...(config !== undefined && { file: config }) };
    return loadSettings(sources).settings;
  }
  const application = await loadEntry(file);
  configure(application, config === undefined ? {} : { config });
  const { settings } = application;
  await application.close({ graceMs: 0 });
  return settings;
}

function entryOf(given: string | undefined): string | undefined {
  if (given !== undefined) return findEntry(given);
  try {
    return findEntry(undefined);
  } catch (error) {
    if (error instanceof CommandFailure) return undefined;
    throw error;
  }
}

const secondsPerUnit: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const longestSeconds = 365 * 86_400;

function secondsOf(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (secondsPerUnit[unit ?? ''] ?? 0);
  if (seconds > 0 && seconds <= longestSeconds) return seconds;
  throw new CommandFailure(
    `flag --expires is "${text}"; allowed: a time of at most 365d, such as 90s, 30m, 8h or 7d.`,
  );
}

interface SigningSecret {
  readonly secret: string;
  readonly algorithm: string;
}

/** Only a secret both signs and checks: the holder of a public key can only check, and that is its purpose. */
function signingSecret(settings: Settings): SigningSecret {
  // a service that checks nothing accepts any signature
  if (!settings.jwtValidate) return { secret: newSecret(), algorithm: 'HS256' };
  if (!hasKeySource(settings)) throw new CommandFailure(withoutKey(settings));
  checkAuthSettings(settings);
  const { keys } = readStaticKeys(settings);
  for (const [at, { algorithms }] of keys.entries()) {
    const algorithm = [...algorithms].find((name) => name.startsWith('HS'));
    const secret = settings.jwtKeys[at];
    if (algorithm !== undefined && secret !== undefined) return { secret, algorithm };
  }
  throw new CommandFailure(
    'This service verifies tokens with public keys, and only the holder of the private key can sign them. ' +
      'Get a token from your issuer; or, for development only, give the service a secret instead:\n\n' +
      secretLines(),
  );
}

function withoutKey({ securityKey }: Settings): string {
  if (securityKey !== undefined)
    return 'This service has one shared key (securityKey) and accepts no other tokens. Send that key as "Authorization: Bearer …".';
  return (
    'This service has no key to verify tokens with. Here is a new secret, which is not stored anywhere. Put it into the ' +
    `environment of the service and of this command, then try again.\n\n${secretLines()}`
  );
}

function secretLines(): string {
  return `  export RUNYARD_AUTHORIZATION=true\n  export RUNYARD_JWT_KEYS=${newSecret()}\n`;
}

function newSecret(): string {
  return randomBytes(32).toString('hex');
}

function scopesOf({ scopes = '', admin = false }: TokenFlags, { adminScope }: Settings): string[] {
  const named = scopes.split(/[\s,;]+/).filter((scope) => scope !== '');
  const known = [...routeScopes(), prioritizeScope, adminScope];
  for (const scope of named) {
    if (known.includes(scope) || opensSomething(scope, known)) continue;
    const near = nearestName(scope, known);
    throw new CommandFailure(
      `flag --scopes has ${scope}; allowed: ${known.join(', ')}, and the same for one component, such as ` +
        `agents:writer:run.${near ? ` Did you mean ${near}?` : ''}`,
    );
  }
  return [...new Set(admin ? [...named, adminScope] : named)];
}

/** An id counts for components only. */
function opensSomething(scope: string, known: readonly string[]): boolean {
  const { resource, instance, action } = parseScope(scope) ?? {};
  const idCounts = instance === null || /^(agents|teams|workflows)$/.test(resource ?? '');
  return idCounts && known.includes(`${resource}:${action}`);
}

/** All scopes that a route asks for. */
function routeScopes(): string[] {
  return [...new Set(routes.flatMap(({ scope }) => scope ?? []))].sort();
}

function claimsOf(
  { user, claim }: TokenFlags,
  settings: Settings,
  scopes: readonly string[],
  times: { readonly iat: number; readonly exp: number },
): JsonObject {
  const { userIdClaim, scopesClaim, jwtIssuer, jwtAudience, jwtVerifyAudience } = settings;
  const audience = jwtAudience[0] ?? (jwtVerifyAudience ? serviceIdOf(settings) : undefined);
  const own: JsonObject = { [userIdClaim]: user, [scopesClaim]: [...scopes], ...times };
  const further = Object.fromEntries(claim.map((text) => furtherClaim(text, own)));
  return {
    ...(jwtIssuer !== undefined && { iss: jwtIssuer }),
    ...(audience !== undefined && { aud: audience }),
    ...further,
    ...own,
  };
}

function furtherClaim(text: string, own: JsonObject): [string, Json] {
  const at = text.indexOf('=');
  const name = text.slice(0, Math.max(at, 0));
  if (name === '')
    throw new CommandFailure(`flag --claim is "${text}"; allowed: name=value, such as tier=gold.`);
  if (Object.hasOwn(own, name))
    throw new CommandFailure(`flag --claim names ${name}, which --user, --scopes and --expires decide.`);
  return [name, jsonOrText(text.slice(at + 1))];
}

function jsonOrText(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** With the service's own check: what is printed is what it takes. Issuers that it asks too are not needed for that. */
async function verify(signed: string, settings: Settings, user: string): Promise<void> {
  const { jwksFile: _file, jwksUrl: _url, ...ownKeys } = settings;
  const verifier = new TokenVerifier(ownKeys, { log: silentLog, serviceId: serviceIdOf(settings) });
  try {
    await verifier.open();
    const { subject } = await verifier.verify(signed);
    if (subject === null) throw new CommandFailure('flag --user is empty. Give the id of a user.');
  } catch (error) {
    if (!(error instanceof RunyardError)) throw error;
    throw new CommandFailure(
      error.code === 'token_subject'
        ? `flag --user is "${user}"; it is reserved by the service or not a valid id. Choose another.`
        : `The service would reject this token: ${error.message}.`,
    );
  }
}

function explanation(user: string, scopes: readonly string[], end: number, settings: Settings): string {
  const until = new Date(end * 1000).toISOString().replace('.000Z', 'Z');
  const allowed = scopes.length === 0 ? 'without scopes' : `with ${scopes.join(', ')}`;
  const note = settings.authorization ? '' : ' Scopes have no effect while authorization is off.';
  return `Token for ${user} ${allowed}, valid until ${until}.${note}`;
}
