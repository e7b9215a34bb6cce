import { type ApprovalServices, approvalRoutes } from './capabilities/approvals/routes.js';
import { type ComponentServices, componentRoutes } from './capabilities/components/routes.js';
import { type LearningServices, learningRoutes } from './capabilities/learnings/routes.js';
import { type MemoryServices, memoryRoutes } from './capabilities/memory/routes.js';
import { type MetricsServices, metricsRoutes } from './capabilities/metrics/routes.js';
import type { RunServices } from './capabilities/runs/route-kit.js';
import { runRoutes } from './capabilities/runs/routes.js';
import { type SessionRunServices, sessionRunRoutes } from './capabilities/runs/session-run-routes.js';
import { type ServiceAccountServices, serviceAccountRoutes } from './capabilities/service-accounts/routes.js';
import { type SessionServices, sessionRoutes } from './capabilities/sessions/routes.js';
import { type SystemServices, systemRoutes } from './capabilities/system/routes.js';
import { type TraceServices, traceRoutes } from './capabilities/traces/routes.js';
import type { Route } from './platform/http/route.js';

/** What the handlers of all routes are given. */
export type Services = SystemServices &
  ComponentServices &
  RunServices &
  ApprovalServices &
  MetricsServices &
  LearningServices &
  MemoryServices &
  SessionServices &
  SessionRunServices &
  TraceServices &
  ServiceAccountServices;

/** The whole route table. */
export const routes: readonly Route<Services>[] = [
  ...systemRoutes,
  ...componentRoutes,
  ...runRoutes,
  ...sessionRoutes,
  ...sessionRunRoutes,
  ...memoryRoutes,
  ...learningRoutes,
  ...traceRoutes,
  ...metricsRoutes,
  ...approvalRoutes,
  ...serviceAccountRoutes,
];
