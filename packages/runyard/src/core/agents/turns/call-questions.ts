import { newId } from '../../ids.js';
import { checkOptions } from '../../options/check-options.js';
import { type RunContext, RunPaused } from '../../runs/context.js';
import { read } from '../../runs/journal/codec.js';
import type { StepRecord } from '../../runs/run.js';
import { storableCopy } from '../../storable-json.js';
import { canonicalJson } from '../../tools/call/canonical-json.js';
import { parseArguments } from '../../tools/call/parse-arguments.js';
import type { ToolAnswer, ToolRequirement } from '../../tools/questions/requirement.js';
import {
  type AskPerson,
  type CallQuestions,
  type QuestionAnswer,
  type ToolQuestion,
  toolQuestion,
} from '../../tools/questions/tool-question.js';
import { type RequestedCall, toolAnswer, toolRequirement } from '../journal-records.js';
import { questionAbout } from '../requirements/question-of-call.js';
import { askKeyOf, requirementOf, type ToolRequirementState } from '../requirements/tool-requirements.js';
import { waitFor } from './gated-calls.js';

/** How many questions of one call a person is asked at most. */
const mostQuestions = 20;
const longestQuestion = 20_000;

/** What the tool of a call that has not ended has asked so far, in the order of the questions. */
export function askedSoFar(
  context: RunContext,
  call: RequestedCall,
  key: string,
): readonly ToolRequirementState[] {
  const asked: ToolRequirementState[] = [];
  if (context.recorded(key)?.status !== 'running') return asked;
  for (;;) {
    const step = context.recorded(askKeyOf(key, asked.length), questionAbout(call));
    const requirement = step && requirementOf(step);
    if (requirement === undefined) return asked;
    asked.push(requirement);
  }
}

/** Whether the last recorded execution of a call ended with a question: it waits, and nothing is unknown. */
export function cameToQuestion(
  begun: StepRecord | undefined,
  asked: readonly ToolRequirementState[],
): boolean {
  return asked.some(({ requirement }) => requirement.askedIn === begun?.attempt);
}

/**
 * What the tool of one call asks while it is executed. An answer is for the same question, word for word, that comes
 * after the same ones: a tool that asks something else is given no answer to what it asked before.
 */
export class QuestionsOfCall implements CallQuestions {
  paused: RunPaused | undefined;

  constructor(
    private readonly context: RunContext,
    private readonly call: RequestedCall,
    private readonly key: string,
  ) {}

  series(): AskPerson {
    let place = 0;
    return async (given) => {
      this.context.signal.throwIfAborted();
      const question = this.checked(given);
      while (this.isOther(place, question)) place += 1;
      if (place >= mostQuestions)
        throw new Error(`'${this.call.name}' asks more than ${mostQuestions} questions in one call.`);
      const asked = place;
      place += 1;
      return this.ask(asked, question);
    };
  }

  private async ask(place: number, question: Question): Promise<QuestionAnswer> {
    const { context, call, key } = this;
    const parsed = parseArguments(call.arguments);
    const waitKey = askKeyOf(key, place);
    const recorded = context.recorded(waitKey);
    const requirement = recorded
      ? read(recorded, toolRequirement)
      : {
          id: newId(),
          callId: call.id,
          toolName: call.name,
          args: parsed.ok ? parsed.args : {},
          createdAt: context.timers.now(),
          askedIn: context.root.attempt,
          ...question,
        };
    const wait = {
      ...waitFor(context, { waitKey, toolKey: key, requirement, answer: null }),
      parentKey: key,
    };
    // at once: the tool may end before the rejection reaches it
    if (recorded?.status !== 'completed')
      this.paused = new RunPaused([...(this.paused?.requirements ?? []), wait]);
    return answerOf(await context.wait(wait, toolAnswer));
  }

  private checked(given: ToolQuestion): Question {
    const owner = `The question of '${this.call.name}'`;
    checkOptions(owner, given, toolQuestion);
    const { message, fields = [] } = storableCopy(given, owner);
    if (canonicalJson({ message, fields }).length > longestQuestion)
      throw new Error(`${owner} is longer than ${longestQuestion} characters.`);
    if (new Set(fields.map(({ name }) => name)).size < fields.length)
      throw new Error(`${owner} has two fields of the same name.`);
    if (fields.length === 0) return { kind: 'confirmation', message };
    return { kind: 'user_input', message, inputFields: fields };
  }

  private isOther(place: number, question: Question): boolean {
    const asked = this.context.recorded(askKeyOf(this.key, place));
    return asked !== undefined && wordsOf(read(asked, toolRequirement)) !== wordsOf(question);
  }
}

type Question = Pick<ToolRequirement, 'kind' | 'message' | 'inputFields'>;

function wordsOf({ message, inputFields = [] }: Question): string {
  return canonicalJson({ message, inputFields });
}

function answerOf(answer: ToolAnswer): QuestionAnswer {
  if (answer.answer === 'input') return { action: 'accept', values: answer.values };
  if (answer.answer !== 'confirmed') throw new Error('The question has an answer of another kind.');
  const { confirmed, cancelled, note } = answer;
  if (confirmed) return { action: 'accept', values: {} };
  if (cancelled) return { action: 'cancel' };
  return { action: 'decline', ...(note !== undefined && { note }) };
}
