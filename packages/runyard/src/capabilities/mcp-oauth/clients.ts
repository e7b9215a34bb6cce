import { z } from 'zod';
import { errors, type OauthCode } from '../../core/errors/errors.js';
import { lazyObject, lazySchema } from '../../core/schemas/lazy-schema.js';
import { redirectFault } from './redirect-uris.js';
import type { OauthClient } from './schema.js';

const scopeText = /^[\x21\x23-\x5b\x5d-\x7e]+(?: +[\x21\x23-\x5b\x5d-\x7e]+)*$/;

const metadataSchema = lazyObject(() => ({
  client_name: z.string().max(200).optional(),
  redirect_uris: z.array(z.string()).min(1).max(20),
  token_endpoint_auth_method: z.string().max(100).optional(),
  grant_types: z.array(z.string().max(200)).max(20).optional(),
  response_types: z.array(z.string().max(200)).max(20).optional(),
  scope: z.union([z.string().max(2000).regex(scopeText), z.literal('')]).optional(),
  jwks: z.object({ keys: z.array(z.record(z.string(), z.unknown())).max(20) }).optional(),
  jwks_uri: z.string().max(2000).optional(),
}));

const documentSchema = lazySchema(() => metadataSchema.extend({ client_id: z.string() }));

/** The grants that a client gets where it does not say. */
const usualGrants = ['authorization_code', 'refresh_token'];

/** What a client registers. It gets no secret: it is a program in other people's hands, and PKCE stands for it. */
export function registeredClient(clientId: string, given: unknown): OauthClient {
  const metadata = parsed(metadataSchema, given);
  const { token_endpoint_auth_method: method = 'none' } = metadata;
  if (method !== 'none')
    throw metadataFault(
      `token_endpoint_auth_method ${method} is not supported here. Register a public client with none.`,
    );
  return { ...commonOf(clientId, metadata), authentication: 'none' };
}

/** The client whose metadata is at the address that is its id. */
export function documentClient(clientId: string, given: unknown): OauthClient {
  const metadata = parsed(documentSchema, given);
  if (metadata.client_id !== clientId)
    throw errors.oauth('invalid_client', 'The client_id of the metadata document is not its address.');
  const { token_endpoint_auth_method: method = 'none', jwks, jwks_uri: jwksUri } = metadata;
  if (method !== 'none' && method !== 'private_key_jwt')
    throw metadataFault(
      `token_endpoint_auth_method ${method} is not supported. Use none or private_key_jwt.`,
    );
  if (method === 'private_key_jwt' && (jwks === undefined) === (jwksUri === undefined))
    throw metadataFault('private_key_jwt needs either jwks or jwks_uri.');
  return { ...commonOf(clientId, metadata), authentication: method, jwks, jwksUri };
}

function commonOf(clientId: string, metadata: z.output<typeof metadataSchema>) {
  const { redirect_uris: redirectUris, grant_types: grants = usualGrants, response_types: types } = metadata;
  for (const uri of redirectUris) {
    const fault = redirectFault(uri);
    if (fault !== undefined) throw errors.oauth('invalid_redirect_uri', `redirect_uris: ${fault}.`);
  }
  if (!grants.includes('authorization_code'))
    throw metadataFault('grant_types must contain authorization_code.');
  if (types !== undefined && !types.includes('code'))
    throw metadataFault('response_types must contain code.');
  const name = metadata.client_name?.trim();
  return {
    clientId,
    name: name ? name : null,
    redirectUris,
    scopes: metadata.scope ? scopesIn(metadata.scope) : null,
    refreshes: grants.includes('refresh_token'),
  };
}

export function scopesIn(text: string): string[] {
  return [...new Set(text.split(' ').filter((scope) => scope !== ''))];
}

function parsed<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = issue?.path.join('.') ?? '';
  const code: OauthCode = place.startsWith('redirect_uris')
    ? 'invalid_redirect_uri'
    : 'invalid_client_metadata';
  throw errors.oauth(code, `${place === '' ? 'The metadata' : place} cannot be used: ${issue?.message}`);
}

function metadataFault(text: string) {
  return errors.oauth('invalid_client_metadata', text);
}
