import { listedRun, listedTeamRun, listedWorkflowRun } from './bodies/listed-run-schema.js';
import {
  checkpointBody,
  runBody,
  teamCheckpointBody,
  teamRunBody,
  workflowRunBody,
} from './bodies/response-schema.js';
import type { RunKindFacts } from './routes/route-kit.js';
import { listRunsQuery, listWorkflowRunsQuery, runQuery, workflowRunQuery } from './schema.js';

const conversation = {
  continueText:
    'A paused run continues with the given answers. A failed run is retried. A completed run ' +
    'continues as a copy with a new run_id.',
  runQuery,
  listQuery: listRunsQuery,
};

export const agentRuns: RunKindFacts = {
  kind: 'agent',
  inWords: 'an agent',
  plural: 'agents',
  idName: 'agent_id',
  tag: 'Agents',
  ...conversation,
  body: runBody,
  listed: listedRun,
  checkpoint: checkpointBody,
  lastEvents: 'RunCompleted, RunError or RunPaused',
};

export const teamRuns: RunKindFacts = {
  kind: 'team',
  inWords: 'a team',
  plural: 'teams',
  idName: 'team_id',
  tag: 'Teams',
  ...conversation,
  body: teamRunBody,
  listed: listedTeamRun,
  checkpoint: teamCheckpointBody,
  lastEvents: 'TeamRunCompleted, TeamRunError or TeamRunPaused',
};

export const workflowRuns: RunKindFacts = {
  kind: 'workflow',
  inWords: 'a workflow',
  plural: 'workflows',
  idName: 'workflow_id',
  tag: 'Workflows',
  continueText: 'A paused run continues with the answers that its steps wait for.',
  runQuery: workflowRunQuery,
  listQuery: listWorkflowRunsQuery,
  body: workflowRunBody,
  listed: listedWorkflowRun,
  lastEvents:
    'WorkflowCompleted, WorkflowError or WorkflowPaused; WorkflowPaused is followed by WorkflowRunOutput, the body of the ' +
    'paused run, without an id',
};
