import type { Citations } from '../models/citations.js';
import type { Message, Role } from '../models/message.js';
import type { FinishReason, ToolChoice } from '../models/model.js';
import { inputRecord, outputRecord } from '../runs/journal/codec.js';
import { callFields, callRecord, mediaList } from '../runs/journal/records.js';
import {
  either,
  flag,
  json,
  jsonObject,
  list,
  nullable,
  number,
  object,
  optional,
  partly,
  type Shaped,
  text,
  variant,
  word,
  yes,
} from '../runs/journal/shapes.js';
import type { ToolAnswer, ToolRequirement } from '../tools/questions/requirement.js';

/**
 * What the steps of an agent's run hold. Only what is new: the messages that a model call saw are rebuilt from
 * the steps before it. This is stored data: records of earlier versions have to fit too.
 */

/** step `context`: what the model was given before the first call, beside the input itself. */
export const contextRecord = outputRecord(
  'context',
  1,
  object({
    system: nullable(text),
    user: text,
    /** Messages of the agent's own that stand before the conversation. */
    additional: optional(list(object({ role: partly<Role>(text), content: text }))),
    /** Runs of the session whose messages were shown. */
    history: list(text),
    /** Those of them that other components executed: what was said is shown, and not which tools they called. */
    ofOthers: optional(list(text)),
    /** How much of their messages. */
    bounds: optional(object({ messages: optional(number), toolCalls: optional(number) })),
    /** The model is shown texts alone. */
    withoutMedia: optional(yes),
    /** The working memory as the system message shows it. */
    workingMemory: optional(jsonObject),
    /** The user's messages of a conversation that the client brought, if hooks changed any. */
    conversation: optional(list(text)),
  }),
);

/** input of the steps `settings` and `sources`: what the functions of the settings and sources of tools were called with. */
export const settingsInput = inputRecord(
  'values for settings',
  1,
  object({ state: jsonObject, dependencies: jsonObject, metadata: jsonObject }),
);

export type SettingsInput = Shaped<typeof settingsInput.shape>;

/** its output: what they returned, by names and ids. */
export const settingsRecord = outputRecord('settings of a run', 1, object({ chosen: jsonObject }));

export type SettingsRecord = Shaped<typeof settingsRecord.shape>;

/** output of the step `sources`, whose input is what counts. */
export const sourcesRecord = outputRecord('sources of a run', 1, object({}));

/** input of the steps `model:<turn>`: how the model is called. Left out when that is as it was in the call before. */
export const modelCallRecord = inputRecord(
  'how the model is called',
  1,
  object({
    /** The adapter of the model. */
    adapter: text,
    stream: optional(yes),
    /** The names of the tools that it may call. */
    tools: optional(list(text)),
    /** What the model was set up with: `temperature` … */
    parameters: optional(jsonObject),
  }),
);

export type ModelCallRecord = Shaped<typeof modelCallRecord.shape>;

const answerFields = {
  ...callFields,
  content: text,
  reasoning: optional(text),
  toolCalls: optional(
    list(
      object({
        id: text,
        name: text,
        arguments: text,
        client: optional(word('execution', 'confirmation')),
      }),
    ),
  ),
  // earlier versions kept the words of the provider
  finishReason: partly<FinishReason>(text),
  finishMessage: optional(text),
  citations: optional(partly<Citations>(object({ sources: list(jsonObject) }))),
  /** What the model made. */
  media: optional(mediaList),
  /** Seconds until the first piece came. */
  timeToFirstToken: number,
  providerData: optional(jsonObject),
  /** Which of the fall-back models answered, when the agent's own model failed. */
  fallback: optional(number),
  /** The run has ended and does not keep its tool messages: the calls are there without their arguments. */
  forgotten: optional(yes),
};

/** steps `model:<turn>` */
export const modelRecord = {
  ...outputRecord('model answer', 1, object(answerFields)),
  includes: callRecord,
};

export type ModelRecord = Shaped<typeof modelRecord.shape>;

/** A tool call that the model asked for. */
export type RequestedCall = NonNullable<ModelRecord['toolCalls']>[number];

export type AuxiliaryRole =
  /** The agent's own model, asked to repair an answer. */
  | 'model'
  | 'memory_model'
  | 'learning_model'
  | 'session_summary_model'
  | 'parser_model'
  | 'output_model'
  | 'followup_model'
  | 'reasoning_model'
  | 'compression_model'
  /** The agent's own model, asked by a tool. */
  | 'sampling_model'
  | 'guardrail_model';

/** auxiliary steps: a model call that is no part of the conversation */
export const auxiliaryRecord = {
  ...outputRecord(
    'auxiliary model answer',
    1,
    object({
      ...answerFields,
      /** What the call was for, as the wire's metrics name it. */
      role: partly<AuxiliaryRole>(text),
      model: object({ id: text, provider: text }),
      /** Set for a call that failed and that the run did without. */
      failure: optional(text),
    }),
  ),
  includes: callRecord,
};

export type AuxiliaryRecord = Shaped<typeof auxiliaryRecord.shape>;

/** steps `tool:<turn>:<position>`; the arguments as the model wrote them are in the model's step */
export const toolRecord = outputRecord(
  'tool call',
  1,
  object({
    callId: text,
    content: text,
    error: flag,
    /** The arguments as the tool took them; null when they could not be understood. */
    args: nullable(jsonObject),
    /** False for a call that reached no tool: the model gets an error, the caller sees no tool execution. */
    listed: flag,
    /** Nothing was executed here: the content is the answer of a person or an external system. */
    answered: optional(flag),
    media: optional(mediaList),
    stop: optional(flag),
    showResult: optional(flag),
    /** The content is what a search of knowledge found. */
    knowledge: optional(yes),
    /** How the content holds what a tool with an output schema returned. */
    written: optional(word('text', 'json')),
    /** The run has ended and does not keep its tool messages: arguments and result are removed. */
    forgotten: optional(yes),
  }),
);

export type ToolRecord = Shaped<typeof toolRecord.shape>;

/** steps `knowledge` and `said:…:knowledge`: what was found for a message of the user */
export const knowledgeRecord = outputRecord(
  'search of knowledge',
  1,
  object({
    query: text,
    references: list(object({ name: nullable(text), content: text, meta_data: jsonObject })),
    /** How the model is shown them. */
    format: word('json', 'yaml'),
    /** Why nothing could be searched, in words for the model. */
    failure: optional(text),
  }),
);

/** steps `pre-hook:<position>` and `post-hook:<position>` */
export const hookRecord = outputRecord(
  'hook',
  1,
  variant('outcome', {
    passed: {},
    /** What the hook made of the input or the content; of a conversation of the client, a list that ends with the input. */
    changed: { content: json },
    refused: { message: text, trigger: text, additionalData: optional(json) },
    crashed: { message: text },
  }),
);

export type HookRecord = Shaped<typeof hookRecord.shape>;

/** What a model hook changes about one call. */
const callChanges = object({
  /** Parts of the messages that the hook was given, by their places (`to` is behind the last), and its own ones. */
  messages: optional(
    list(
      either(
        object({ from: number, to: number }),
        object({ message: partly<Message>(object({ id: text, role: text, content: text })) }),
      ),
    ),
  ),
  tools: optional(list(text)),
  toolChoice: optional(partly<ToolChoice>(either(text, object({ name: text })))),
  /** A model by its name; of a model object, only what it is called. */
  model: optional(either(object({ name: text }), object({ id: text, provider: text }))),
  parameters: optional(jsonObject),
});

export type CallChangesRecord = Shaped<typeof callChanges>;

/** steps `before-model:<turn>:<position>`: a `hook` whose content is known */
export const beforeModelRecord = outputRecord(
  'hook',
  1,
  variant('outcome', { passed: {}, changed: { content: callChanges }, refused: {}, crashed: {} }),
);

/** input of the same steps: the source of a hook without a name */
export const hookInput = inputRecord('source of a hook', 1, object({ source: optional(text) }));

/** step `dependencies`: what the functions returned, by name */
export const dependenciesRecord = outputRecord('dependencies', 1, jsonObject);

/** step `answer`: what the conversation has instead of the last model call's own text. */
export const answerRecord = outputRecord(
  'answer',
  1,
  object({
    /** Null when a post-hook refused it, so that it cannot be read. */
    text: nullable(text),
  }),
);

export type AnswerRecord = Shaped<typeof answerRecord.shape>;

/** steps `memory:changes`: the outcome of what the memory model asked for. The texts are in the model's step. */
export const memoryRecord = outputRecord(
  'changes of memories',
  1,
  either(
    object({
      changes: list(object({ kind: word('add', 'update', 'delete', 'clear'), memoryId: optional(text) })),
    }),
    object({ failure: text }),
  ),
);

export type MemoryRecord = Shaped<typeof memoryRecord.shape>;

/** step `recall`: the vector of the exchange was stored, or not */
export const recallRecord = outputRecord(
  'recall',
  1,
  either(object({ embedder: text, tokens: number }), object({ failure: text })),
);

export type RecallRecord = Shaped<typeof recallRecord.shape>;

/** input of the steps `compression:<tool call>`: the turn that the result was too long for */
export const compressionInput = inputRecord('compression', 1, object({ turn: number }));

/** input of the step that sums the session up: the creation of the last run in it */
export const summaryInput = inputRecord('session summary', 1, object({ covers_until: number }));

/** input of the `wait` steps of a call */
export const toolRequirement = inputRecord(
  'question about a tool call',
  1,
  partly<ToolRequirement>(
    object({
      id: text,
      kind: text,
      callId: text,
      toolName: text,
      args: jsonObject,
      createdAt: number,
      inputFields: optional(list(object({ name: text, type: text }))),
      questions: optional(list(object({ question: text, options: list(object({ label: text })) }))),
      approval: optional(object({ type: text })),
      message: optional(text),
      askedIn: optional(number),
    }),
  ),
);

const answerShape = partly<ToolAnswer>(
  variant('answer', {
    confirmed: { confirmed: flag, note: optional(text), approval: optional(jsonObject) },
    input: { values: jsonObject, approval: optional(jsonObject) },
    feedback: { selected: list(list(text)) },
    result: { result: text, approval: optional(jsonObject) },
  }),
);

/** their output */
export const toolAnswer = outputRecord('answer about a tool call', 1, answerShape);

/** How an interrupted call ended, as it is reported to the heart, with any answer from a person. */
export const recordedOutcome = outputRecord(
  'outcome of a tool call',
  1,
  variant('outcome', {
    retry: { answer: optional(answerShape) },
    done: { output: toolRecord.shape, answer: optional(answerShape) },
    failed: { message: text, answer: optional(answerShape) },
  }),
);

export type RecordedOutcome = Shaped<typeof recordedOutcome.shape>;
