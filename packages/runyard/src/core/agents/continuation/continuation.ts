import { errors } from '../../errors/errors.js';
import type { Media } from '../../media/media.js';
import { hasContent, isOwned } from '../../media/owned-media.js';
import { ownSteps } from '../../runs/journal/child-steps.js';
import { read } from '../../runs/journal/codec.js';
import { triedKey } from '../../runs/journal/try-keys.js';
import type { Continuation, ContinueFrom, ContinueInConversation } from '../../runs/resume/continuation.js';
import { definitionChanged } from '../../runs/resume/replay.js';
import type { Run, StepRecord } from '../../runs/run.js';
import { settingsKey } from '../context/settings-of-run.js';
import {
  type AuxiliaryRole,
  compressionInput,
  hookRecord,
  type ModelRecord,
  modelRecord,
} from '../journal-records.js';
import { contextSearchKey } from '../knowledge/references-text.js';
import { isAskKey } from '../requirements/tool-requirements.js';
import { contextMessages, isForgotten, messagesOf, producedMedia, turnMessages } from '../transcript.js';
import { modelHookTurn } from '../turns/call-changes.js';
import { sourcesKey } from '../turns/tool-set.js';
import {
  continueRecordOf,
  conversationOf,
  isUnpassed,
  keptAnswerOf,
  type Turn,
  turnOf,
  userMessageKey,
} from './conversation.js';

/** Messages that are kept or dropped together: no tool call is left without its result. */
interface Unit {
  readonly messages: number;
  readonly steps: readonly StepRecord[];
  readonly from: 'user' | 'assistant' | 'tools';
  /** The results of its calls are not kept. */
  readonly forgotten?: boolean;
}

/**
 * What is kept of the run of an agent or a team when the run, or a copy of it, continues from there. Of a team, that is
 * the conversation of the leader and what members did for the calls in it.
 */
export function continuationOf(run: Run, all: readonly StepRecord[], from: ContinueFrom): Continuation {
  if (typeof from === 'object') throw errors.invalidContinue('Only a run of a workflow starts at a step.');
  const steps = ownSteps(all);
  const total = messagesOf(run, steps).length;
  if (typeof from === 'number' && (!Number.isInteger(from) || from < 0 || from > total))
    throw errors.noSuchMessage('continue_from', total);
  const units = keptUnits(unitsOf(run, steps), from);
  checkMedia(run, steps, from);
  // the model would answer without the results of its calls, or make them again
  const isEnd = run.status === 'completed' && from === 'end';
  if (units.at(-1)?.forgotten && !isEnd) throw errors.toolMessagesNotKept(run.runId);
  if (units.length === 0) return { steps: [], messageIndex: 0, turn: 0 };
  const conversation = new Set(units.flatMap((unit) => unit.steps));
  const turn = [...conversation].filter(({ kind }) => kind === 'model').length;
  const beside = new Set(besides(steps, conversation, turn));
  const kept = steps.filter((step) => conversation.has(step) || beside.has(step));
  const begun = from === 'end' ? unfinishedTurn(run, steps, turn) : [];
  if (begun.some((step) => step.kind === 'model' && isForgotten(step)))
    throw errors.toolMessagesNotKept(run.runId);
  const unfinished = withMembers(begun, all).filter(isKeptOf(run));
  const unpassed = from === 'end' ? unpassedAnswer(steps, turn) : [];
  return {
    steps: withMembers(withKeptAnswer(kept, steps), all),
    messageIndex: count(units),
    turn,
    ...(unfinished.length > 0 && { unfinished }),
    ...(unpassed.length > 0 && { unpassed }),
  };
}

/** The model would answer without media that it has to see. A copy of a run that waits would lose them with its end. */
function checkMedia(run: Run, steps: readonly StepRecord[], from: ContinueFrom): void {
  const isEnd = run.status === 'completed' && from === 'end';
  const lacks = run.status === 'paused' ? isOwned : (media: Media) => !hasContent(media);
  if (!isEnd && [...run.input.media, ...producedMedia(steps)].some(lacks))
    throw errors.mediaNotKept(run.runId);
}

const memoryRole: AuxiliaryRole = 'memory_model';

const turnKeys = /^(?:wait:)?(?:model|tool|member|before-model|after-model):(\d+)/;

/**
 * Which steps of an unfinished turn a failed run continues with. Open questions are asked again, except those of a run
 * that ended because its code had changed: their approvals are still pending.
 */
function isKeptOf({ result }: Run): (step: StepRecord) => boolean {
  const keepsQuestions = result?.error?.type === definitionChanged;
  return ({ kind, status, key }) =>
    // what a tool asks belongs to its call, which has begun
    kind !== 'wait' || status === 'completed' || keepsQuestions || isAskKey(key);
}

/** Steps of the run itself, with all that members did for the calls among them. */
function withMembers(own: readonly StepRecord[], all: readonly StepRecord[]): readonly StepRecord[] {
  const kept = new Map(own.map((step) => [step.key, step]));
  const isOfMember = ({ key }: StepRecord): boolean => {
    const [, place] = /^member:(\d+:\d+)/.exec(key) ?? [];
    return place !== undefined && kept.has(`tool:${place}`);
  };
  return all.flatMap((step) => kept.get(step.key) ?? (isOfMember(step) ? step : []));
}

/** The steps of the turn that a run failed in, if calls of it were made or answered. */
function unfinishedTurn(run: Run, steps: readonly StepRecord[], turn: number): readonly StepRecord[] {
  // the session that this one was copied from has the same answers
  if (run.lineage?.forkedFromSessionId !== undefined) return [];
  const model = steps.find(({ key }) => key === `model:${turn}`);
  const asksForCalls = model?.status === 'completed' && read(model, modelRecord).toolCalls !== undefined;
  if (!asksForCalls) return [];
  const isKept = isKeptOf(run);
  const begun = steps.filter((step) => Number(turnKeys.exec(step.key)?.[1] ?? -1) === turn && isKept(step));
  return begun.some(({ kind }) => kind !== 'model' && kind !== 'try' && kind !== 'hook') ? begun : [];
}

/** The last answer, with its tries, when a post-hook has not passed it. */
function unpassedAnswer(steps: readonly StepRecord[], turn: number): readonly StepRecord[] {
  if (!isUnpassed(steps)) return [];
  return steps.filter((step) => triedKey(step) === `model:${turn}` || modelHookTurn(step.key) === turn);
}

/** What of a run is whole, from its beginning on. */
function unitsOf(run: Run, steps: readonly StepRecord[]): Unit[] {
  const { context, turns } = conversationOf(steps);
  if (context?.status !== 'completed') return [];
  const units: Unit[] = [
    { messages: contextMessages(run, context, steps).length, steps: [context], from: 'user' },
  ];
  for (const turn of turns) {
    for (const step of turn.userMessages) units.push({ messages: 1, steps: [step], from: 'user' });
    if (turn.model === undefined) continue;
    if (!isWhole(turn) || isRefused(turn, steps)) break;
    const { model, tools } = turn;
    const from = tools.length > 0 ? 'tools' : 'assistant';
    const messages = turnMessages(model, tools).length;
    units.push({ messages, steps: [model, ...tools], from, forgotten: isForgotten(model) });
  }
  return units;
}

function isWhole(turn: Turn): turn is Turn & { model: StepRecord } {
  const { model, tools } = turn;
  if (model?.status !== 'completed') return false;
  const calls = read(model, modelRecord).toolCalls?.length ?? 0;
  return tools.length === calls && tools.every(({ status }) => status === 'completed');
}

/** An answer that a post-hook refused, or did not come to pass, is not kept: the model is asked again. */
function isRefused({ model, tools }: Turn, steps: readonly StepRecord[]): boolean {
  // calls that were made stay made
  return tools.length === 0 && keptAnswerOf(steps)?.text === null && model === lastModelStep(steps);
}

function keptUnits(units: readonly Unit[], from: ContinueInConversation): readonly Unit[] {
  if (from === 'end') return units;
  if (from === 'last_user') return units.slice(0, units.findLastIndex((unit) => unit.from === 'user') + 1);
  if (from === 'last_answer')
    return units.slice(0, units.findLastIndex((unit) => unit.from !== 'assistant') + 1);
  const kept: Unit[] = [];
  for (const unit of units) {
    if (count(kept) + unit.messages > from) break;
    kept.push(unit);
  }
  return kept;
}

function count(units: readonly Unit[]): number {
  return units.reduce((sum, { messages }) => sum + messages, 0);
}

/**
 * The steps that are no messages and belong to those that are kept. All that comes after the conversation is done
 * again, so no step of that may be found under its key.
 */
function besides(steps: readonly StepRecord[], conversation: ReadonlySet<StepRecord>, turn: number) {
  const hooks = steps.filter((step) => isPassedHook(step, conversation));
  const keys = new Set(Array.from(conversation, ({ key }) => key));
  return steps.filter((step) => {
    const { key, kind, status } = step;
    if (kind === 'try') return keys.has(triedKey(step));
    if (status !== 'completed') return false;
    if (kind === 'continue')
      return continueRecordOf(step).input === null && continueRecordOf(step).turn <= turn;
    if (kind === 'wait') return key.startsWith('wait:tool:') && Number(key.split(':')[2]) < turn;
    if (kind === 'knowledge') return key === contextSearchKey || isAboutUserMessage(step, conversation);
    if (kind === 'hook') {
      const isOfRun = key === 'dependencies' || key === settingsKey || key === sourcesKey;
      return isOfRun || hooks.includes(step) || (modelHookTurn(key) ?? turn) < turn;
    }
    // a message of the user is remembered once
    if (isRemembered(step)) return key.startsWith('memory') || isAboutUserMessage(step, conversation);
    if (kind !== 'auxiliary') return false;
    if (key.startsWith('reasoning:')) return true;
    if (key.startsWith('compression:')) return read(step, compressionInput).turn < turn;
    return hooks.some((hook) => key.startsWith(`${hook.key}:`));
  });
}

function isRemembered({ kind, name }: StepRecord): boolean {
  return kind === 'memory' || (kind === 'auxiliary' && name === memoryRole);
}

function isPassedHook(step: StepRecord, conversation: ReadonlySet<StepRecord>): boolean {
  if (step.kind !== 'hook' || step.status !== 'completed') return false;
  const isFirst = step.key.startsWith('pre-hook:') || isAboutUserMessage(step, conversation);
  return isFirst && hasPassed(step);
}

function isAboutUserMessage({ key }: StepRecord, conversation: ReadonlySet<StepRecord>): boolean {
  for (const step of conversation) {
    if (step.kind === 'continue' && key.startsWith(`${userMessageKey(step)}:`)) return true;
  }
  return false;
}

function hasPassed(step: StepRecord): boolean {
  const { outcome } = read(step, hookRecord);
  return outcome === 'passed' || outcome === 'changed';
}

function lastModelStep(steps: readonly StepRecord[]): StepRecord | undefined {
  return conversationOf(steps).turns.findLast(({ model }) => model?.status === 'completed')?.model;
}

/** What the conversation kept instead of the model's own last text counts as the text of the model from now on. */
function withKeptAnswer(kept: readonly StepRecord[], steps: readonly StepRecord[]): readonly StepRecord[] {
  const answer = keptAnswerOf(steps);
  if (answer === undefined) return kept;
  const last = lastModelStep(steps);
  return kept.map((step) => {
    if (step !== last) return step;
    const { reasoning, providerData, ...record } = read(step, modelRecord);
    const thoughts = {
      ...(reasoning !== undefined && { reasoning }),
      ...(providerData !== undefined && { providerData }),
    };
    const output: ModelRecord = {
      ...record,
      ...(answer.text !== null && thoughts),
      content: answer.text ?? '',
    };
    return { ...step, output };
  });
}

/** The turn that comes next in a run that continues with all its steps. */
export function nextTurn(steps: readonly StepRecord[]): number {
  const turns = ownSteps(steps)
    .filter(({ kind, status }) => kind === 'model' && status === 'completed')
    .map(turnOf);
  return Math.max(-1, ...turns) + 1;
}
