/**
 * Who may call what, as the contract writes it (admin.md 3.4, with the decisions of its README: of `read` and `run`
 * either suffices to look at a run, and the status of a refresh needs `metrics:read`). Operations that are not built
 * yet stand here as well: they are held to it when they come.
 */
const table: readonly (readonly [scopes: string, operations: readonly string[]])[] = [
  ['public', ['GET /health', 'GET /openapi.json']],
  ['any identity', ['GET /', 'GET /info', 'GET /ready', 'GET /docs']],
  ['config:read', ['GET /config', 'GET /models', 'GET /databases']],
  ['config:write', ['POST /databases/all/migrate', 'POST /databases/{db_id}/migrate']],
  ...componentScopes('agents', 'agent_id'),
  ...componentScopes('teams', 'team_id'),
  ...componentScopes('workflows', 'workflow_id').map(
    ([scopes, operations]) =>
      [scopes, operations.filter((operation) => !/checkpoints|fork/.test(operation))] as const,
  ),
  [
    'sessions:read',
    [
      'GET /sessions',
      'GET /sessions/{session_id}',
      'GET /sessions/{session_id}/runs',
      'GET /sessions/{session_id}/runs/{run_id}',
    ],
  ],
  [
    'sessions:write',
    ['POST /sessions', 'POST /sessions/{session_id}/rename', 'PATCH /sessions/{session_id}'],
  ],
  ['sessions:delete', ['DELETE /sessions', 'DELETE /sessions/{session_id}']],
  [
    'memories:read',
    ['GET /memories', 'GET /memories/{memory_id}', 'GET /memory_topics', 'GET /user_memory_stats'],
  ],
  ['memories:write', ['POST /memories', 'PATCH /memories/{memory_id}', 'POST /optimize-memories']],
  ['memories:delete', ['DELETE /memories', 'DELETE /memories/{memory_id}']],
  ['learnings:read', ['GET /learnings', 'GET /learnings/users', 'GET /learnings/{learning_id}']],
  ['learnings:write', ['POST /learnings', 'PATCH /learnings/{learning_id}']],
  ['learnings:delete', ['DELETE /learnings/{learning_id}', 'DELETE /learnings/users/{user_id}']],
  [
    'knowledge:read',
    [
      'GET /knowledge/content',
      'GET /knowledge/content/{content_id}',
      'GET /knowledge/content/{content_id}/status',
      'GET /knowledge/content/{content_id}/events',
      'GET /knowledge/config',
      'GET /knowledge/{knowledge_id}/sources',
      'GET /knowledge/{knowledge_id}/sources/{source_id}/files',
      'POST /knowledge/search',
    ],
  ],
  [
    'knowledge:write',
    ['POST /knowledge/content', 'POST /knowledge/remote-content', 'PATCH /knowledge/content/{content_id}'],
  ],
  ['knowledge:delete', ['DELETE /knowledge/content', 'DELETE /knowledge/content/{content_id}']],
  ['metrics:read', ['GET /metrics', 'GET /metrics/refresh/status']],
  ['metrics:write', ['POST /metrics/refresh']],
  ['evals:read', ['GET /eval-runs', 'GET /eval-runs/{eval_run_id}']],
  ['evals:write', ['POST /eval-runs', 'PATCH /eval-runs/{eval_run_id}']],
  ['evals:delete', ['DELETE /eval-runs']],
  [
    'evals:read',
    [
      'GET /eval-runs/{eval_run_id}/comparison',
      'GET /datasets',
      'GET /datasets/{dataset_id}',
      'GET /datasets/{dataset_id}/cases',
      'GET /datasets/{dataset_id}/export',
    ],
  ],
  [
    'evals:write',
    [
      'POST /datasets',
      'PATCH /datasets/{dataset_id}',
      'POST /datasets/{dataset_id}/cases',
      'PATCH /datasets/{dataset_id}/cases/{case_id}',
      'POST /datasets/{dataset_id}/import',
    ],
  ],
  ['evals:delete', ['DELETE /datasets/{dataset_id}', 'DELETE /datasets/{dataset_id}/cases/{case_id}']],
  [
    'traces:read',
    [
      'GET /traces',
      'GET /traces/filter-schema',
      'GET /traces/{trace_id}',
      'GET /trace_session_stats',
      'POST /traces/search',
    ],
  ],
  [
    'schedules:read',
    [
      'GET /schedules',
      'GET /schedules/{schedule_id}',
      'GET /schedules/{schedule_id}/runs',
      'GET /schedules/{schedule_id}/runs/{run_id}',
    ],
  ],
  [
    'schedules:write',
    [
      'POST /schedules',
      'PATCH /schedules/{schedule_id}',
      'POST /schedules/{schedule_id}/enable',
      'POST /schedules/{schedule_id}/disable',
      'POST /schedules/{schedule_id}/trigger',
    ],
  ],
  ['schedules:delete', ['DELETE /schedules/{schedule_id}']],
  [
    'approvals:read',
    [
      'GET /approvals',
      'GET /approvals/count',
      'GET /approvals/{approval_id}',
      'GET /approvals/{approval_id}/status',
    ],
  ],
  ['approvals:write', ['POST /approvals/{approval_id}/resolve']],
  ['approvals:delete', ['DELETE /approvals/{approval_id}']],
  [
    'components:read',
    [
      'GET /components',
      'GET /components/{component_id}',
      'GET /components/{component_id}/configs',
      'GET /components/{component_id}/configs/{version}',
      'GET /components/{component_id}/configs/current',
    ],
  ],
  [
    'components:write',
    [
      'POST /components',
      'PATCH /components/{component_id}',
      'POST /components/{component_id}/configs',
      'PATCH /components/{component_id}/configs/{version}',
      'POST /components/{component_id}/configs/{version}/set-current',
    ],
  ],
  [
    'components:delete',
    ['DELETE /components/{component_id}', 'DELETE /components/{component_id}/configs/{version}'],
  ],
  ['registry:read', ['GET /registry']],
  ['service_accounts:write', ['POST /service-accounts']],
  ['service_accounts:read', ['GET /service-accounts']],
  ['service_accounts:delete', ['DELETE /service-accounts/{service_account_id}']],
];

/** What is not in the contract, with the reason why it requires what it does. */
const additions: readonly (readonly [scopes: string, operation: string, reason: string])[] = [
  ['agents:read, agents:run', 'GET /agents/{agent_id}/runs/{run_id}/events', 'reads a run'],
  ['teams:read, teams:run', 'GET /teams/{team_id}/runs/{run_id}/events', 'reads a run'],
  ['workflows:read, workflows:run', 'GET /workflows/{workflow_id}/runs/{run_id}/events', 'reads a run'],
  ['evals:write', 'POST /eval-runs/{eval_run_id}/cancel', 'ends what was started with it'],
  ['evals:read', 'GET /eval-runs/{eval_run_id}/events', 'reads an eval'],
  ['evals:read', 'GET /eval-runs/{eval_run_id}/results', 'reads an eval'],
  ['components:read', 'GET /components/{component_id}/dependents', 'reads components'],
  ['components:read', 'GET /components/{component_id}/configs/{version}/links', 'reads a version'],
  ['components:read', 'GET /components/{component_id}/history', 'reads a component'],
  ['components:read', 'GET /components/{component_id}/diff', 'reads versions of a component'],
  ['components:write', 'POST /components/{component_id}/restore', 'changes a component'],
  ['workflows:run', 'POST /workflows/{workflow_id}/runs/{run_id}/events', 'continues a run'],
  ['public', 'GET /docs/assets/{file}', 'files of an open-source package tell nothing of a service'],
  ['public', 'GET /console', 'the page is the same for everyone and holds no data'],
  ['public', 'GET /console/*', 'the page is the same for everyone and holds no data'],
];

/** What an operation requires: its scopes, `any identity`, or `public`. */
export const decidedScopes: ReadonlyMap<string, string> = new Map([
  ...table.flatMap(([scopes, operations]) => operations.map((operation) => [operation, scopes] as const)),
  ...additions.map(([scopes, operation]) => [operation, scopes] as const),
]);

function componentScopes(plural: string, parameter: string) {
  const one = `/${plural}/{${parameter}}`;
  const run = `${one}/runs/{run_id}`;
  return [
    [`${plural}:read`, [`GET /${plural}`, `GET ${one}`, `GET ${one}/config`]],
    [
      `${plural}:run`,
      [
        `POST ${one}/runs`,
        `POST ${run}/cancel`,
        `POST ${run}/continue`,
        `POST ${run}/resume`,
        `POST ${one}/sessions/{session_id}/fork`,
      ],
    ],
    [
      `${plural}:read, ${plural}:run`,
      [`GET ${one}/runs`, `GET ${run}`, `GET ${run}/checkpoints`, `GET ${run}/checkpoints/{message_index}`],
    ],
  ] as const;
}
