import type { Document } from '../../core/knowledge/document.js';

const mostDocuments = 256;
const mostCharacters = 1_048_576;

/** Gathers documents, so that small ones cross between processes together and large ones alone. */
export class BatchedDocuments {
  #documents: Document[] = [];
  #characters = 0;

  /** `send` resolves when the documents were taken: until then no more are made. */
  constructor(private readonly send: (documents: readonly Document[]) => Promise<void>) {}

  async add(document: Document): Promise<void> {
    this.#documents.push(document);
    this.#characters += document.content.length;
    if (this.#documents.length >= mostDocuments || this.#characters >= mostCharacters) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#documents.length === 0) return;
    const documents = this.#documents;
    this.#documents = [];
    this.#characters = 0;
    await this.send(documents);
  }
}
