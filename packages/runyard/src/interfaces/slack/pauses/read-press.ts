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

/** What a button is about. Ids of runs and approvals have no bar in them, and neither have times. */
interface ButtonValue {
  readonly runId: string;
  /** The message that says what the run waits for. */
  readonly waitingTs: string;
  /** Left out by the button that submits a whole message. */
  readonly requirementId?: string | undefined;
}

export function buttonValue({ requirementId, runId, waitingTs }: ButtonValue): string {
  return [...(requirementId === undefined ? [] : [requirementId]), runId, waitingTs].join('|');
}

/** The button that looks how an approval stands names the approval first. */
export function checkValue(approvalId: string, value: ButtonValue): string {
  return `${approvalId}|${buttonValue(value)}`;
}

function valueIn({ action_id: action, value }: JsonObject): Required<ButtonValue> {
  const parts = String(value ?? '').split('|');
  const waitingTs = parts.pop() ?? '';
  const runId = parts.pop() ?? '';
  if (action === buttons.check) parts.shift();
  return { runId, waitingTs, requirementId: parts.join('|') };
}

/** A press of one of our buttons; undefined for another interaction. */
export function readPress(payload: JsonObject): Press | undefined {
  const [action] = objectsIn(payload.actions);
  if (payload.type !== 'block_actions' || action === undefined || !known.has(action.action_id))
    return undefined;
  const { runId } = valueIn(action);
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

/** What was pressed: the button, and what it is about. */
export function pressed({ payload }: Press): Required<ButtonValue> & { readonly button: string } {
  const [action = {}] = objectsIn(payload.actions);
  return { button: String(action.action_id), ...valueIn(action) };
}

function textIn(object: unknown, name: string): string | undefined {
  const value = isJsonObject(object) ? object[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}
