import { type RunFacts, type RunOutput, runOutputOf } from '../components/run-output.js';
import type { Json } from '../json.js';
import type { MediaContents } from '../media/media.js';
import type { Message } from '../models/message.js';
import { childrenOf } from '../runs/execution/child-run.js';
import type { EndedRun } from '../runs/run.js';
import type { ToolRequirement } from '../tools/questions/requirement.js';
import { openRequirements } from './continuation/continue-in-code.js';
import { foundReferences, type References } from './knowledge/references.js';
import { type ToolExecution, toolExecutionsOf } from './tool-executions.js';
import { messagesOf, withHistory } from './transcript.js';

/** The output of a run of an agent or a team; `status` says which fields it has. */
export type AgentRunOutput<Content = unknown> = RunOutput<Content, ToolRequirement> & AgentRunFacts;

export interface AgentRunFacts {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolExecution[];
  /** What was thought before and while answering. */
  readonly reasoningContent?: string;
  /** What its searches of knowledge found; empty when there were none. */
  readonly references: readonly References[];
  /** What the user could ask next. */
  readonly followups?: readonly string[];
  /** The outputs of the members of a team, and of agents and teams that are tools, in the order of the calls. */
  readonly memberResponses?: readonly MemberRunOutput[];
}

/** A member may still be running when its team pauses. */
export type MemberRunOutput =
  | AgentRunOutput
  | (RunFacts & AgentRunFacts & { readonly status: 'running'; readonly content: Json });

export function outputOf({ run, steps, history }: EndedRun, contents: MediaContents): AgentRunOutput<Json> {
  const { result } = run;
  const members = childrenOf(run, steps)
    .filter((child) => child.run.kind !== 'workflow')
    .map((child): MemberRunOutput => {
      const output = outputOf({ ...child, history: [] }, contents);
      return child.run.status === 'running' ? { ...output, status: 'running' } : output;
    });
  const requirements = () => openRequirements(run, steps).map(({ requirement }) => requirement);
  return {
    ...runOutputOf(run, contents, requirements),
    messages: withHistory(messagesOf(run, steps), history),
    tools: toolExecutionsOf(steps),
    references: foundReferences(steps),
    ...(result?.reasoningContent !== undefined && { reasoningContent: result.reasoningContent }),
    ...(Array.isArray(result?.extra?.followups) && { followups: result.extra.followups.map(String) }),
    ...(members.length > 0 && { memberResponses: members }),
  };
}
