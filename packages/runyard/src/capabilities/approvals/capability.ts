import type { Capability } from '../capability.js';
import { type ApprovalServices, approvalRoutes } from './routes.js';
import { ApprovalsService, DatabaseApprovals } from './service.js';

declare module '../capability.js' {
  interface Services extends ApprovalServices {}
  interface RunSpace {
    readonly approvals: DatabaseApprovals;
  }
}

export const approvals: Capability = {
  name: 'approvals',
  routes: approvalRoutes,
  open: ({ settings, spaces, services }) => ({
    services: {
      approvals: new ApprovalsService({
        spaces,
        fourEyes: settings.approvalsFourEyes,
        personsBehindAccount: (principal) => services.serviceAccounts.personsBehindAccount(principal),
      }),
    },
    inDatabase: (database) => ({ parts: { approvals: new DatabaseApprovals(database) } }),
  }),
};
