import type { Usage } from '../models/message.js';
import { inputRecord, outputRecord } from '../runs/journal/codec.js';
import { mediaList } from '../runs/journal/records.js';
import {
  json,
  jsonObject,
  list,
  number,
  object,
  optional,
  partly,
  type Shaped,
  text,
  word,
} from '../runs/journal/shapes.js';

/** Input of the steps `remote:<leg>`: the run at the other service. It is durable before that run is started. Stored data. */
export const remoteStart = inputRecord('remote run', 1, object({ runId: text, sessionId: text }));

/** step `remote:task`: the id that the other service gave the run, where it gives one. */
export const remoteTask = outputRecord('task of a remote run', 1, object({ taskId: text }));

/** Output of the steps `remote:<leg>`: what the remote run had come to when it ended or paused. */
export const remoteRest = outputRecord(
  'rest of a remote run',
  1,
  object({
    runId: text,
    sessionId: text,
    status: word('completed', 'paused', 'error', 'cancelled'),
    content: json,
    contentType: text,
    reasoning: optional(text),
    /** The index of the last event that was read. */
    lastIndex: number,
    /** The tool calls so far and what the run waits for, in the words of the wire. */
    tools: list(jsonObject),
    requirements: list(jsonObject),
    /** All that the remote run has used so far. */
    usage: partly<Usage>(jsonObject),
    model: optional(object({ id: text, provider: text })),
    media: optional(mediaList),
    metadata: optional(jsonObject),
    error: optional(object({ type: optional(text), message: text })),
    /** Of a workflow: what the wire shows of its steps. */
    steps: optional(jsonObject),
  }),
);

export type RemoteRest = Shaped<typeof remoteRest.shape>;
