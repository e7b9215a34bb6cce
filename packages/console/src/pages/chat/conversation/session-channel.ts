/** Notifies other tabs of this browser of what happened in a session. They need not wait until they ask again. */
export class SessionChannel {
  readonly #name: string;
  readonly #heard: () => void;
  #channel: BroadcastChannel | undefined;

  constructor(sessionId: string, heard: () => void) {
    this.#name = `runyard.session ${sessionId}`;
    this.#heard = heard;
  }

  open(): void {
    if (this.#channel !== undefined || typeof BroadcastChannel === 'undefined') return;
    this.#channel = new BroadcastChannel(this.#name);
    this.#channel.onmessage = this.#heard;
  }

  tell(): void {
    this.#channel?.postMessage('');
  }

  close(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }
}
