import { errors } from '../../errors/errors.js';
import type { Message } from '../../models/message.js';
import { type ModelLike, resolveModel } from '../../models/resolve.js';
import { nearestName } from '../../nearest-name.js';
import { checkOptions } from '../../options/check-options.js';
import { read } from '../../runs/journal/codec.js';
import type { StepRecord } from '../../runs/run.js';
import { storableCopy } from '../../storable-json.js';
import { type ModelCallChanges, modelCallChanges, mostMessages } from '../hooks/model-hook.js';
import { beforeModelRecord, type CallChangesRecord } from '../journal-records.js';

/** What the call was when the hook changed it. */
interface ChangedCall {
  readonly messages: readonly Message[];
  readonly tools: readonly string[];
}

interface Site {
  /** `The model hook 'shorten'` */
  readonly owner: string;
  /** The copies that the hook was given of the messages. */
  readonly copies: readonly Message[];
  /** What new messages are called and when they were made. */
  readonly key: string;
  readonly createdAt: number;
}

/** What a hook returned, checked, as the journal keeps it: only what is new is written down. */
export function recordedChanges(
  call: ChangedCall,
  changes: ModelCallChanges,
  site: Site,
): CallChangesRecord | undefined {
  const { owner } = site;
  checkOptions(owner, changes, modelCallChanges);
  const { messages, model, parameters, tools, toolChoice } = changes;
  if (messages !== undefined && messages.length > mostMessages)
    throw errors.invalidConfig(
      `${owner}: messages has ${messages.length} entries. The most is ${mostMessages}.`,
    );
  checkNames(owner, call, tools ?? [], 'tools');
  const offered = tools ?? call.tools;
  if (typeof toolChoice === 'object')
    checkNames(owner, { tools: offered }, [toolChoice.name], 'toolChoice.name');
  if (toolChoice === 'required' && offered.length === 0)
    throw errors.invalidConfig(`${owner}: toolChoice is 'required', but the model is offered no tool.`);
  const record: CallChangesRecord = {
    ...(messages !== undefined && { messages: recordedMessages(call, messages, site) }),
    ...(tools !== undefined && { tools: [...tools] }),
    ...(toolChoice !== undefined && { toolChoice }),
    ...(model !== undefined && { model: recordedModel(model) }),
    ...(parameters !== undefined && { parameters: storableCopy(parameters, `${owner}: parameters`) }),
  };
  return Object.keys(record).length === 0 ? undefined : record;
}

function checkNames(
  owner: string,
  { tools }: Pick<ChangedCall, 'tools'>,
  wanted: readonly string[],
  setting: string,
): void {
  for (const name of wanted) {
    if (tools.includes(name)) continue;
    const near = nearestName(name, tools);
    const hint = near === undefined ? `It has: ${tools.join(', ') || '(none)'}.` : `Did you mean '${near}'?`;
    throw errors.invalidConfig(
      `${owner}: ${setting} names '${name}', which this call does not have. ${hint}`,
    );
  }
}

function recordedModel(model: ModelLike): NonNullable<CallChangesRecord['model']> {
  if (typeof model === 'string') return { name: model };
  const { id, provider } = resolveModel(model);
  return { id, provider };
}

type RecordedMessages = NonNullable<CallChangesRecord['messages']>;

function recordedMessages(
  { messages }: ChangedCall,
  returned: NonNullable<ModelCallChanges['messages']>,
  { owner, copies, key, createdAt }: Site,
): RecordedMessages {
  const places = new Map<object, number>(copies.map((copy, place) => [copy, place]));
  const recorded: RecordedMessages = [];
  for (const [position, message] of returned.entries()) {
    const place = places.get(message);
    if (place !== undefined && isSame(message, messages[place])) {
      const last = recorded.at(-1);
      if (last !== undefined && 'to' in last && last.to === place)
        recorded[recorded.length - 1] = { from: last.from, to: place + 1 };
      else recorded.push({ from: place, to: place + 1 });
    } else {
      const made = { id: `${key}:${position}`, createdAt, ...message };
      recorded.push({ message: storableCopy(made, `${owner}: messages[${position}]`) });
    }
  }
  return recorded;
}

function isSame(message: object, original: Message | undefined): boolean {
  return JSON.stringify(message) === JSON.stringify(original);
}

/** The messages of a call after a change. */
export function changedMessages(
  messages: readonly Message[],
  { messages: recorded }: CallChangesRecord,
): readonly Message[] {
  if (recorded === undefined) return messages;
  return recorded.flatMap((one) => ('message' in one ? [one.message] : messages.slice(one.from, one.to)));
}

/** What the model was given in a turn, after all hooks of the recorded run. */
export function messagesAfterHooks(
  messages: readonly Message[],
  steps: readonly StepRecord[],
  turn: number,
): readonly Message[] {
  const prefix = `before-model:${turn}:`;
  const hooks = steps.filter(({ key, kind, status }) => {
    return kind === 'hook' && status === 'completed' && key.startsWith(prefix);
  });
  let shown = messages;
  for (const step of hooks) {
    const record = read(step, beforeModelRecord);
    if (record.outcome === 'changed') shown = changedMessages(shown, record.content);
  }
  return shown;
}

/** The turn of a step that a model hook recorded; undefined for any other. */
export function modelHookTurn(key: string): number | undefined {
  const [, turn] = /^(?:before|after)-model:(\d+):/.exec(key) ?? [];
  return turn === undefined ? undefined : Number(turn);
}
