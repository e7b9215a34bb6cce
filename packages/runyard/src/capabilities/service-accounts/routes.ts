import { ResourceRoutes } from '../../platform/http/resource-routes.js';
import { reply } from '../../platform/http/response/results.js';
import type { Route } from '../../platform/http/route.js';
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

const resource = new ResourceRoutes<ServiceAccountServices>('Service Accounts', 'service_accounts');

const createAccount = resource.create({
  path: '/service-accounts',
  operationId: 'create_service_account',
  summary: 'Create a service account',
  description:
    'An identity for a program. The response shows its token once. Its scopes cannot exceed those of the caller. ' +
    'The name of an active account is taken: to rotate a token, revoke the account first.',
  body: createAccountBody,
  shows: newAccountBody,
  handler: async ({ serviceAccounts }, { body, caller }) => {
    const { account, token } = await serviceAccounts.create(caller, {
      name: body.name,
      scopes: body.scopes?.map(({ scope }) => scope) ?? null,
      expiresInDays: daysOf(body),
      allowPrivilegedScopes: body.allow_privileged_scopes,
    });
    return reply(201, { ...accountBodyOf(account), token }, { 'cache-control': 'no-store' });
  },
});

const listAccounts = resource.list({
  path: '/service-accounts',
  operationId: 'list_service_accounts',
  summary: 'List service accounts',
  description: 'Includes revoked accounts unless include_revoked is false. Tokens are not shown.',
  query: listAccountsQuery,
  shows: accountsPage,
  find: ({ serviceAccounts }, { query }) =>
    serviceAccounts.list({
      limit: query.limit,
      page: query.page,
      includeRevoked: query.include_revoked,
      sortBy: query.sort_by,
      sortOrder: query.sort_order,
    }),
  entry: accountBodyOf,
});

const revokeAccount = resource.remove({
  path: '/service-accounts/:service_account_id',
  operationId: 'revoke_service_account',
  summary: 'Revoke a service account',
  description:
    'Revocation is permanent. The account stays in the list, and its name can be used again at once.',
  params: accountParams,
  gone: 'The account is revoked.',
  handler: ({ serviceAccounts }, { params }) => serviceAccounts.revoke(params.service_account_id),
});

export const serviceAccountRoutes: readonly Route<ServiceAccountServices>[] = [
  createAccount,
  listAccounts,
  revokeAccount,
];
