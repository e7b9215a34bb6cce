import type { Capability } from '../capability.js';
import { ServiceAccountTokens } from './account-tokens.js';
import { serviceAccounts as accounts } from './migrations/0009-service-accounts.js';
import { type ServiceAccountServices, serviceAccountRoutes } from './routes.js';
import { ServiceAccountsService } from './service.js';

declare module '../capability.js' {
  interface Services extends ServiceAccountServices {
    readonly accountTokens: ServiceAccountTokens;
  }
}

export const serviceAccounts: Capability = {
  name: 'service-accounts',
  migrations: [accounts],
  routes: serviceAccountRoutes,
  open({ settings, databases, log }) {
    // a service has a database of its own
    const database = databases[0]!;
    const { serviceAccountCacheSeconds: cacheSeconds, adminScope } = settings;
    const accountTokens = new ServiceAccountTokens({ database, cacheSeconds, log });
    const serviceAccounts = new ServiceAccountsService({ database, tokens: accountTokens, adminScope });
    return { services: { accountTokens, serviceAccounts } };
  },
};
