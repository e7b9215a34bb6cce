import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Services } from '../../capabilities/capability.js';
import type { Installation } from '../../capabilities/slack/service.js';
import type { JsonObject } from '../../core/json.js';
import { ContentReply, type Reply, reply } from '../../platform/http/response/results.js';
import { defineRoute, type Route, type RouteRequest } from '../../platform/http/route.js';
import type { OpenSlack } from './open-slack.js';
import type { SlackConfig } from './options.js';
import type { OAuthSecrets } from './secrets.js';
import { SlackCallError } from './web/call-error.js';
import { objectIn, textIn } from './workspaces.js';

type Request = RouteRequest<unknown, JsonObject, unknown>;

const usualScopes: readonly string[] = [
  'app_mentions:read',
  'assistant:write',
  'channels:history',
  'channels:read',
  'chat:write',
  'files:read',
  'files:write',
  'groups:history',
  'groups:read',
  'im:history',
  'users:read',
  'users:read.email',
];

const cookieName = 'runyard_slack_install';
const validSeconds = 600;

/** The pages by which a workspace installs the app. */
export function installRoutes(
  config: SlackConfig,
  openOf: (services: Services) => OpenSlack,
): readonly Route<Services>[] {
  if (config.oauth === undefined) return [];
  const page = (
    path: string,
    name: string,
    answer: (open: OpenSlack, request: Request) => Promise<Reply | ContentReply>,
  ): Route<Services> =>
    defineRoute({
      method: 'GET',
      path: config.prefix + path,
      operationId: `slack_${config.prefix.replace(/[^A-Za-z0-9]+/g, '_')}_${name}`.toLowerCase(),
      // Slack asks the person who installs the app who they are, and whether they may
      public: true,
      tag: 'Slack',
      summary: `${name} (Slack)`,
      query: z.looseObject({}),
      responses: { 200: { description: 'A page.', contentType: 'text/html' } },
      undocumented: true,
      addition: true,
      handler: (services: Services, request) =>
        // queries are texts, and lists of them where a name is repeated
        answer(openOf(services), request as unknown as Request),
    });
  return [page('/install', 'install', begin), page('/oauth/callback', 'installed', complete)];
}

async function begin(open: OpenSlack, request: Request): Promise<Reply> {
  const { oauth, redirectUri, isSecure } = siteOf(open, request);
  const nonce = randomBytes(24).toString('base64url');
  const expires = Math.floor(Date.now() / 1_000) + validSeconds;
  const url = new URL('https://slack.com/oauth/v2/authorize');
  url.searchParams.set('client_id', oauth.clientId);
  url.searchParams.set('scope', (open.config.oauth?.scopes ?? usualScopes).join(','));
  url.searchParams.set('state', stateOf(oauth, nonce, expires));
  url.searchParams.set('redirect_uri', redirectUri);
  return reply(302, undefined, {
    location: url.href,
    'cache-control': 'no-store',
    'set-cookie': cookie(open, nonce, validSeconds, isSecure),
  });
}

/** The browser that began comes back with a code, which is exchanged for the token of its workspace. */
async function complete(open: OpenSlack, request: Request): Promise<ContentReply> {
  const { oauth, redirectUri, isSecure } = siteOf(open, request);
  const [code, state, error] = ['code', 'state', 'error'].map((name) => textIn(request.query, name));
  const over = { 'set-cookie': cookie(open, '', 0, isSecure) };
  if (error !== undefined)
    return page(400, 'The app was not installed: Slack reports that it was refused.', over);
  const nonce = cookieIn(request.headers.cookie);
  const [expires = '', ...rest] = (state ?? '').split('.');
  const isOurs =
    nonce !== undefined &&
    rest.length === 1 &&
    /^\d{1,12}$/.test(expires) &&
    Number(expires) * 1_000 > Date.now() &&
    stateOf(oauth, nonce, Number(expires)) === state;
  if (!isOurs || code === undefined)
    return page(
      400,
      'This installation did not begin in this browser, or it took too long. Begin again.',
      over,
    );
  let granted: JsonObject;
  try {
    const api = await open.workspaces.openApi();
    granted = await api.call('oauth.v2.access', {
      client_id: oauth.clientId,
      client_secret: oauth.clientSecret,
      code,
      redirect_uri: redirectUri,
    });
  } catch (cause) {
    if (!(cause instanceof SlackCallError)) throw cause;
    open.log.warn({ code: cause.code }, 'Slack refused an installation');
    return page(cause.retryable ? 502 : 400, 'Slack refused the installation. Begin again.', over);
  }
  const installed = installationIn(granted);
  if (installed === undefined) return page(502, 'Slack granted no bot token. Begin again.', over);
  const { teams } = open.config.oauth ?? {};
  if (teams !== undefined && !teams.includes(installed.ownerId)) {
    const api = await open.workspaces.openApi(installed.token);
    await api.call('auth.revoke', {}).catch(() => {});
    return page(403, 'This workspace may not install the app here.', over);
  }
  await open.slack.install(open.config.prefix, installed, oauth.encryptionSecret);
  open.workspaces.forget(installed.ownerId);
  open.log.info({ workspace: installed.ownerId }, 'a workspace installed the Slack app');
  return page(200, 'The app is installed. You can close this page.', over);
}

function installationIn(granted: JsonObject): Installation | undefined {
  const token = textIn(granted, 'access_token');
  const of =
    granted.is_enterprise_install === true ? objectIn(granted, 'enterprise') : objectIn(granted, 'team');
  const ownerId = textIn(of, 'id');
  if (token === undefined || ownerId === undefined || granted.token_type !== 'bot') return undefined;
  return {
    token,
    ownerId,
    name: textIn(of, 'name') ?? '',
    botUserId: textIn(granted, 'bot_user_id') ?? '',
    scopes: textIn(granted, 'scope') ?? '',
    installedBy: textIn(objectIn(granted, 'authed_user'), 'id') ?? '',
  };
}

function siteOf(
  { secrets, config }: OpenSlack,
  { calledAddress }: Request,
): { oauth: OAuthSecrets; redirectUri: string; isSecure: boolean } {
  const { oauth } = secrets;
  if (oauth === undefined) throw new Error('There is no installation without oauth.');
  const address = (config.oauth?.publicUrl ?? calledAddress).replace(/\/$/, '');
  return {
    oauth,
    redirectUri: `${address}${config.prefix}/oauth/callback`,
    isSecure: address.startsWith('https:'),
  };
}

/** Only this service can make it, and only for the browser that has the nonce. */
function stateOf({ encryptionSecret }: OAuthSecrets, nonce: string, expires: number): string {
  const key = new Uint8Array(hkdfSync('sha256', encryptionSecret, '', 'runyard slack state', 32));
  return `${expires}.${createHmac('sha256', key).update(`${expires}.${nonce}`).digest('base64url')}`;
}

function cookie({ config }: OpenSlack, nonce: string, seconds: number, isSecure: boolean): string {
  const parts = [
    `${cookieName}=${nonce}`,
    `Max-Age=${seconds}`,
    `Path=${config.prefix}`,
    'HttpOnly',
    'SameSite=Lax',
  ];
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ');
}

function cookieIn(header: string | undefined): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === cookieName && value) return value;
  }
  return undefined;
}

function page(status: number, text: string, headers: Readonly<Record<string, string>>): ContentReply {
  const html = `<!doctype html><meta charset="utf-8"><title>Slack</title><p>${text}</p>`;
  return new ContentReply(
    html,
    'text/html; charset=utf-8',
    { ...headers, 'cache-control': 'no-store', 'content-security-policy': "default-src 'none'" },
    status,
  );
}
