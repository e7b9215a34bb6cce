import { pageOf } from '../../platform/http/request/pagination.js';
import { reply } from '../../platform/http/response/results.js';
import { defineRoute, type Route } from '../../platform/http/route.js';
import { accountBodyOf } from './account-body.js';
import {
  accountParams,
  accountsPage,
  createAccountBody,
  daysOf,
  listAccountsQuery,
  newAccountBody,
} from './schema.js';
import type { ServiceAccountsService } from './service.js';

export interface ServiceAccountServices {
  readonly serviceAccounts: ServiceAccountsService;
}

const tag = 'Service Accounts';

const createAccount = defineRoute({
  method: 'POST',
  path: '/service-accounts',
  operationId: 'create_service_account',
  scope: 'service_accounts:write',
  tag,
  summary: 'Create a service account',
  description:
    'An identity for a program. The response shows its token once. Its scopes cannot exceed those of the caller. ' +
    'The name of an active account is taken: to rotate a token, revoke the account first.',
  body: createAccountBody,
  responses: { 201: newAccountBody },
  handler: async ({ serviceAccounts }: ServiceAccountServices, { body, caller }) => {
    const { account, token } = await serviceAccounts.create(caller, {
      name: body.name,
      scopes: body.scopes?.map(({ scope }) => scope) ?? null,
      expiresInDays: daysOf(body),
      allowPrivilegedScopes: body.allow_privileged_scopes,
    });
    return reply(201, { ...accountBodyOf(account), token }, { 'cache-control': 'no-store' });
  },
});

const listAccounts = defineRoute({
  method: 'GET',
  path: '/service-accounts',
  operationId: 'list_service_accounts',
  scope: 'service_accounts:read',
  tag,
  summary: 'List service accounts',
  description: 'Includes revoked accounts unless include_revoked is false. Tokens are not shown.',
  query: listAccountsQuery,
  responses: { 200: accountsPage },
  handler: async ({ serviceAccounts }: ServiceAccountServices, { query }) => {
    const { items, total } = await serviceAccounts.list({
      limit: query.limit,
      page: query.page,
      includeRevoked: query.include_revoked,
      sortBy: query.sort_by,
      sortOrder: query.sort_order,
    });
    return pageOf(items.map(accountBodyOf), query, total);
  },
});

const revokeAccount = defineRoute({
  method: 'DELETE',
  path: '/service-accounts/:service_account_id',
  operationId: 'revoke_service_account',
  scope: 'service_accounts:delete',
  tag,
  summary: 'Revoke a service account',
  description:
    'Revocation is permanent. The account stays in the list, and its name can be used again at once.',
  params: accountParams,
  responses: { 204: { description: 'The account is revoked.' } },
  handler: async ({ serviceAccounts }: ServiceAccountServices, { params }) => {
    await serviceAccounts.revoke(params.service_account_id);
    return reply(204);
  },
});

export const serviceAccountRoutes: readonly Route<ServiceAccountServices>[] = [
  createAccount,
  listAccounts,
  revokeAccount,
];
