/**
 * What Slack documents of its Web API (docs.slack.dev, read in November 2026), and where it names no number, an
 * assumption that is marked as one. A tier says how many calls of a method an app may make in a minute in a workspace;
 * bursts above it are tolerated, but not promised.
 */
export interface MethodLimits {
  readonly perMinute: number;
  /** The count is kept for each channel. */
  readonly byChannel?: true;
  readonly required?: readonly string[];
}

const tier1 = 1;
const tier2 = 20;
const tier3 = 50;
const tier4 = 100;

export const methods: Readonly<Record<string, MethodLimits>> = {
  // "special", without a number: 200 is an assumption
  'auth.test': { perMinute: 200 },
  'auth.revoke': { perMinute: tier3 },
  'oauth.v2.access': { perMinute: tier4, required: ['client_id', 'client_secret', 'code'] },
  'apps.connections.open': { perMinute: tier1 },
  'users.info': { perMinute: tier4, required: ['user'] },
  'conversations.info': { perMinute: tier3, required: ['channel'] },
  'conversations.replies': { perMinute: tier3, required: ['channel', 'ts'] },
  // "special": 600 calls a minute
  'assistant.threads.setStatus': { perMinute: 600, required: ['channel_id', 'thread_ts', 'status'] },
  'assistant.threads.setTitle': { perMinute: tier4, required: ['channel_id', 'thread_ts', 'title'] },
  'assistant.threads.setSuggestedPrompts': { perMinute: tier4, required: ['channel_id', 'prompts'] },
  // "special": one message per second in a channel
  'chat.postMessage': { perMinute: 60, byChannel: true, required: ['channel'] },
  'chat.postEphemeral': { perMinute: tier4, required: ['channel', 'user'] },
  'chat.update': { perMinute: tier3, required: ['channel', 'ts'] },
  'chat.delete': { perMinute: tier3, required: ['channel', 'ts'] },
  // Slack lists thread_ts as optional, and says that a stream is always a reply: stricter here
  'chat.startStream': { perMinute: tier2, required: ['channel', 'thread_ts'] },
  'chat.appendStream': { perMinute: tier4, required: ['channel', 'ts'] },
  'chat.stopStream': { perMinute: tier2, required: ['channel', 'ts'] },
  'files.info': { perMinute: tier4, required: ['file'] },
  'files.getUploadURLExternal': { perMinute: tier4, required: ['filename', 'length'] },
  'files.completeUploadExternal': { perMinute: tier4, required: ['files'] },
};

/** Characters, unless the name says otherwise. */
export const sizes = {
  /** Longer texts are truncated by Slack. */
  text: 40_000,
  markdownText: 12_000,
  /** All text of a streamed message, whatever number of calls it came with. Assumed: as for other messages. */
  streamedText: 40_000,
  blocks: 50,
  /** Cards of a streamed message. Assumed: each becomes a block. */
  tasks: 50,
  /** Documented for the details and the output of a card; assumed for its title. */
  taskText: 256,
  loadingMessages: 10,
  prompts: 4,
  /** Assumed: Slack names no limit. */
  title: 200,
  /** Assumed. */
  metadataBytes: 8_192,
} as const;
