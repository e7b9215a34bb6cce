import type { Learnings } from '../learnings/learnings.js';
import type { MediaContents } from '../media/media.js';
import { ownedBy } from '../media/owned-media.js';
import type { UserMemories } from '../memory/user-memories.js';
import type { ResponseCache } from '../models/cache/response-cache.js';
import type { ModelPace } from '../models/pace/model-pace.js';
import type { ReceivedEvents } from './journal/received-events.js';
import type { PastSessions } from './past-sessions.js';
import type { Recall } from './recall.js';
import type { Run } from './run.js';

/** What a run may ask of the capabilities around it. A capability that runs use adds its port here. */
export interface RunPorts {
  readonly media: MediaContents;
  readonly pastSessions: PastSessions;
  /** Earlier exchanges by their meaning. */
  readonly recall: Recall;
  /** The events that runs were sent. */
  readonly receivedEvents: ReceivedEvents;
  /** What is remembered about people. */
  readonly memories: UserMemories;
  /** What agents have learned. */
  readonly learnings: Learnings;
  /** What models answered before. */
  readonly responses: ResponseCache;
  /** Paces the calls of models. Left out: they are made at once. */
  readonly pace?: ModelPace;
}

/** What a run stores that does not keep its media is its own, and goes with the outermost run. */
export function portsOf({ input }: Run, owner: string, ports: RunPorts): RunPorts {
  return input.options.forgets?.media ? { ...ports, media: ownedBy(owner, ports.media) } : ports;
}
