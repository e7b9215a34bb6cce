import { textOf } from '../../agents/answer/answer-record.js';
import type { AgentExecution } from '../../agents/execution.js';
import { RunyardError } from '../../errors/errors.js';
import type { RunContext } from '../../runs/context.js';
import { childrenOf } from '../../runs/execution/child-run.js';
import { read } from '../../runs/journal/codec.js';
import { childOutcome } from '../../runs/journal/records.js';
import type { RunInput } from '../../runs/run.js';
import { ToolRefused } from '../../tools/call/tool-hooks.js';
import { defaultHistoryRuns, type TeamMember, type TeamSettings } from '../settings.js';

/** What a member is asked, with what the team lets it know. */
export async function memberInput(
  execution: AgentExecution,
  settings: TeamSettings,
  member: TeamMember,
  task: string,
): Promise<RunInput> {
  const { context, dependencies, metadata, input } = execution;
  const { knowledgeFilters, extra, stream, remembersOutside } = context.options;
  const asked = settings.determineInputForMembers === false ? input.content : task;
  return {
    content: await accepted(context, member, asked, () => backgroundOf(context, settings)),
    media: context.run.input.media,
    options: {
      stream,
      ...(Object.keys(dependencies).length > 0 && { dependencies }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
      ...(knowledgeFilters !== undefined && { knowledgeFilters }),
      ...(extra !== undefined && { extra }),
      // the user's message is checked once, and not again in every task made from it
      ...((settings.updateMemoryOnRun || remembersOutside) && { remembersOutside: true }),
    },
  };
}

/** A member that takes data and not words gets nothing but those. */
async function accepted(
  context: RunContext,
  member: TeamMember,
  asked: string,
  background: () => Promise<readonly string[]>,
): Promise<string> {
  if (member.settings.inputSchema === undefined) return [asked, ...(await background())].join('\n\n');
  try {
    return (await member.acceptInput?.(asked, context.callApplication)) ?? asked;
  } catch (error) {
    if (!(error instanceof RunyardError)) throw error;
    throw new ToolRefused(`Member '${member.id}' takes a JSON object as its task: ${error.message}`);
  }
}

async function backgroundOf(context: RunContext, settings: TeamSettings): Promise<readonly string[]> {
  const blocks: string[] = [];
  if (settings.addTeamHistoryToMembers) {
    const earlier = await context.history(settings.numTeamHistoryRuns ?? defaultHistoryRuns);
    const said = earlier.map(
      ({ run }) => `User: ${run.input.content}\nTeam: ${textOf(run.result?.content ?? '')}`,
    );
    if (said.length > 0) blocks.push(block('team_history', said));
  }
  if (settings.shareMemberInteractions) {
    const said = interactionsOf(context);
    if (said.length > 0) blocks.push(block('member_interactions', said));
  }
  return blocks;
}

/** What other members were asked in this run and have answered. */
function interactionsOf(context: RunContext): readonly string[] {
  return childrenOf(context.run, context.steps())
    .filter(({ step }) => step.status === 'completed')
    .map(({ step, run }) => {
      const { result } = read(step, childOutcome);
      return `Member: ${run.componentName ?? run.componentId}\nTask: ${run.input.content}\nAnswer: ${textOf(result.content)}`;
    });
}

function block(name: string, parts: readonly string[]): string {
  return `<${name}>\n${parts.join('\n\n')}\n</${name}>`;
}
