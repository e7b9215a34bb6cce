import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { objectsIn } from '../../common/answers/question.js';
import type { Press } from '../parts.js';

/** The buttons of a paused run. What else Slack reports, such as a choice in a menu, decides nothing. */
export const buttons = {
  approve: 'row_approve',
  reject: 'row_reject',
  submit: 'submit_pause',
  check: 'check_status',
} as const;

const known: ReadonlySet<unknown> = new Set(Object.values(buttons));

/** The value of a button: the run, and what of it the button is about. Ids of runs have no bar in them. */
export function buttonValue(runId: string, questionId = ''): string {
  return `${runId}|${questionId}`;
}

/** A press of one of our buttons; undefined for another interaction. */
export function readPress(payload: JsonObject): Press | undefined {
  const [action] = objectsIn(payload.actions);
  if (payload.type !== 'block_actions' || action === undefined || !known.has(action.action_id))
    return undefined;
  const runId = String(action.value ?? '').split('|', 1)[0];
  const { user, team, channel, message, container } = payload;
  const place = {
    userId: textIn(user, 'id'),
    teamId: textIn(team, 'id') ?? textIn(user, 'team_id'),
    channel: textIn(channel, 'id') ?? textIn(container, 'channel_id'),
    messageTs: textIn(message, 'ts') ?? textIn(container, 'message_ts'),
    actionTs: textIn(action, 'action_ts'),
  };
  const { userId, teamId, channel: place_, messageTs, actionTs } = place;
  if (!runId || !userId || !teamId || !place_ || !messageTs || !actionTs) return undefined;
  const kind = action.action_id === buttons.check ? 'look' : 'decide';
  return { runId, kind, userId, teamId, channel: place_, messageTs, actionTs, payload };
}

/** What was pressed: the button, and the question that it belongs to. */
export function pressed({ payload }: Press): { readonly button: string; readonly questionId: string } {
  const [action] = objectsIn(payload.actions);
  const value = String(action?.value ?? '');
  return { button: String(action?.action_id), questionId: value.slice(value.indexOf('|') + 1) };
}

function textIn(object: unknown, name: string): string | undefined {
  const value = isJsonObject(object) ? object[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}
