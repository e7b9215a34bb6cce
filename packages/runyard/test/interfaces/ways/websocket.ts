import { WsClient } from '../../support/clients/ws-client.js';
import type { Body } from '../../support/service.js';
import {
  type Asked,
  type Client,
  type Following,
  type Person,
  Refused,
  requirementsField,
  type Seen,
  type Way,
} from '../way.js';
import { isNews, seenInEvents, statusOf } from './sse.js';

export const webSocket: Way = {
  name: 'WebSocket',
  news: ['text', 'tool'],
  open: (person) => new WebSocketClient(person),
};

/** One connection for each run that it follows, so that it can drop one. */
class WebSocketClient implements Client {
  constructor(private readonly person: Person) {}

  start(asked: Asked): Following {
    const connected = this.connect(asked);
    const { message, sessionId: session_id, factoryInput: factory_input } = asked;
    const rested = connected.then((socket) => {
      const action = `start-${kindOf(asked)}`;
      socket.send({ action, ...componentOf(asked), message, session_id, factory_input });
      return restIn(socket, asked);
    });
    rested.catch(() => {});
    let last: string | undefined;
    return {
      rested,
      receives: async (news) => {
        const socket = await connected;
        return socket.until(() => socket.events.find(isNews(news)), news);
      },
      drop: () =>
        void connected.then((socket) => {
          last = String(socket.events.at(-1)?.event_index);
          socket.socket.terminate();
        }),
      last: () => last,
    };
  }

  async answer(asked: Asked, runId: string, requirements: readonly Body[]): Promise<Seen> {
    const socket = await this.connect(asked);
    socket.send({
      action: `continue-${kindOf(asked)}`,
      ...componentOf(asked),
      run_id: runId,
      [requirementsField(asked)]: requirements,
    });
    return restIn(socket, asked);
  }

  async cancel(asked: Asked, runId: string): Promise<void> {
    const socket = await this.connect(asked);
    const answer = await socket.ask({
      action: `cancel-${kindOf(asked)}`,
      ...componentOf(asked),
      run_id: runId,
    });
    if (answer.event === 'error') throw new Refused(answer.error);
  }

  async comeBack(asked: Asked, runId: string, lost?: Following): Promise<Seen> {
    const socket = await this.connect(asked);
    const last = lost?.last?.();
    socket.send({
      action: 'reconnect',
      ...componentOf(asked),
      run_id: runId,
      ...(last !== undefined && { last_event_index: Number(last) }),
    });
    return restIn(socket, asked);
  }

  private connect(asked: Asked): Promise<WsClient> {
    const path = `/${asked.plural}/ws?format=json`;
    return WsClient.connect(this.person.url, path, { headers: this.person.headers });
  }
}

function kindOf({ plural }: Asked): string {
  return plural.slice(0, -1);
}

function componentOf(asked: Asked): Record<string, string> {
  return { [`${kindOf(asked)}_id`]: asked.id };
}

/** Waits for the last event of the run itself, or for an error. */
async function restIn(socket: WsClient, { plural }: Asked): Promise<Seen> {
  const prefix = { agents: 'Run', teams: 'TeamRun', workflows: 'Workflow' }[plural];
  return socket.until(() => {
    const error = socket.frames.find(({ payload }) => payload.event === 'error')?.payload;
    if (error !== undefined) throw new Refused(error.error);
    const last = socket.events.at(-1);
    return last?.event.startsWith(prefix) && statusOf(last) !== undefined && seenInEvents(socket.events);
  }, 'the run rests');
}
