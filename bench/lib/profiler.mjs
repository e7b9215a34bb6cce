import { Session } from 'node:inspector/promises';

const interval = 500;

/** Profiles this process: its main thread, and each of its worker threads. */
export class Profiler {
  #session = new Session();
  #workers = new Map();
  #answers = new Map();
  #sent = 0;

  async start() {
    this.#session.connect();
    this.#session.on('NodeWorker.attachedToWorker', ({ params }) => {
      this.#workers.set(params.sessionId, params.workerInfo.title);
    });
    this.#session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
      const { id, result } = JSON.parse(params.message);
      this.#answers.get(id)?.(result);
    });
    await this.#session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
    await this.#onAll('Profiler.enable');
    await this.#onAll('Profiler.setSamplingInterval', { interval });
    await this.#onAll('Profiler.start');
  }

  /** The profile of the main thread, then those of the others. */
  async stop() {
    const stopped = await this.#onAll('Profiler.stop');
    this.#session.disconnect();
    return stopped.map(({ profile }) => profile);
  }

  #onAll(method, params = {}) {
    const workers = [...this.#workers.keys()].map((sessionId) => this.#onWorker(sessionId, method, params));
    return Promise.all([this.#session.post(method, params), ...workers]);
  }

  #onWorker(sessionId, method, params) {
    this.#sent += 1;
    const id = this.#sent;
    const message = JSON.stringify({ id, method, params });
    return new Promise((resolve, reject) => {
      this.#answers.set(id, resolve);
      this.#session.post('NodeWorker.sendMessageToWorker', { sessionId, message }).catch(reject);
    });
  }
}
