import { approvals } from './approvals/capability.js';
import { type Capability, migrationsOf, routesOf } from './capability.js';
import { components } from './components/capability.js';
import { databases } from './databases/capability.js';
import { datasets } from './datasets/capability.js';
import { evals } from './evals/capability.js';
import { knowledge } from './knowledge/capability.js';
import { learnings } from './learnings/capability.js';
import { liveEvals } from './live-evals/capability.js';
import { mcpOauth } from './mcp-oauth/capability.js';
import { mcpSessions } from './mcp-sessions/capability.js';
import { media } from './media/capability.js';
import { memory } from './memory/capability.js';
import { metrics } from './metrics/capability.js';
import { pushNotifications } from './push-notifications/capability.js';
import { recall } from './recall/capability.js';
import { registry } from './registry/capability.js';
import { responseCache } from './response-cache/capability.js';
import { retention } from './retention/capability.js';
import { runs } from './runs/capability.js';
import { schedules } from './schedules/capability.js';
import { serviceAccounts } from './service-accounts/capability.js';
import { sessions } from './sessions/capability.js';
import { slack } from './slack/capability.js';
import { system } from './system/capability.js';
import { traces } from './traces/capability.js';

/** All capabilities, in the order in which they open and are described. To add one is to add its line. */
export const capabilities: readonly Capability[] = [
  system,
  components,
  databases,
  registry,
  runs,
  sessions,
  media,
  memory,
  learnings,
  recall,
  knowledge,
  datasets,
  traces,
  metrics,
  liveEvals,
  evals,
  approvals,
  serviceAccounts,
  mcpOauth,
  schedules,
  pushNotifications,
  mcpSessions,
  slack,
  responseCache,
  retention,
];

/** The whole route table. */
export const routes = routesOf(capabilities);

export const migrations = migrationsOf(capabilities);
