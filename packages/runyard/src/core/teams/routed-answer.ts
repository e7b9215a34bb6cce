import { type Answer, textOf } from '../agents/answer/answer-record.js';
import { endingOf, endingOfCall } from '../agents/answer/ending.js';
import { outputShapeOf } from '../agents/answer/output-format.js';
import { turnOf } from '../agents/continuation/conversation.js';
import { isGuarded } from '../agents/hooks/guarded.js';
import type { ModelRecord } from '../agents/journal-records.js';
import type { RunContext } from '../runs/context.js';
import { read } from '../runs/journal/codec.js';
import { childOutcome } from '../runs/journal/records.js';
import type { StepRecord } from '../runs/run.js';
import type { MemberEvents } from './members/member-events.js';
import { hasWaited } from './members/member-steps.js';
import type { TeamSettings } from './settings.js';

/** What the member that the leader chose has answered, in whatever shape: the answer of the team. */
export function routedAnswer(
  context: RunContext,
  settings: TeamSettings,
  last: ModelRecord,
): Answer | undefined {
  if (last.toolCalls === undefined || isRewritten(context, settings)) return undefined;
  const models = context.steps('model').filter(({ status }) => status === 'completed');
  const outcomes = membersOfTurn(context, Math.max(...models.map(turnOf)))
    .filter(({ status }) => status === 'completed')
    .map((step) => read(step, childOutcome).result);
  const [only] = outcomes;
  if (only === undefined) return undefined;
  if (outcomes.length === 1)
    return { content: only.content, contentType: only.contentType, ending: endingOf(only) };
  const content = outcomes.map((outcome) => textOf(outcome.content)).join('\n\n');
  return { content, contentType: 'str', ending: endingOfCall(last) };
}

/** After a member had to wait for a person, the leader writes the answer. */
export function routeContinues(context: RunContext, turn: number): boolean {
  return membersOfTurn(context, turn).some(({ key }) => hasWaited(context, key));
}

/** Whose words a member's are. */
export function routedEvents(context: RunContext, settings: TeamSettings, key: string): MemberEvents {
  const sent = settings.streamMemberEvents ?? true;
  if (hasWaited(context, key)) return { sent };
  const isLater = isRewritten(context, settings) || isGuarded(settings);
  return { sent, asTeam: isLater ? 'later' : 'now' };
}

/** The team gives what its member answered another shape. */
function isRewritten({ options }: RunContext, settings: TeamSettings): boolean {
  const { outputModel, parserModel, outputSchema } = settings;
  return (
    outputModel !== undefined || parserModel !== undefined || outputShapeOf(options, outputSchema) !== null
  );
}

function membersOfTurn(context: RunContext, turn: number): readonly StepRecord[] {
  return context.steps('member').filter((step) => turnOf(step) === turn);
}
