import { errors } from '../errors/errors.js';
import type { JsonObject } from '../json.js';
import { checkContent } from './given-content.js';
import { checkedSearch } from './given-search.js';
import { checkedKnowledgeSettings } from './knowledge-options.js';
import type { KnowledgeSettings } from './knowledge-settings.js';
import type {
  FoundDocument,
  GivenContent,
  KnowledgeContent,
  KnowledgeSearch,
  KnowledgeSpace,
  ReadSearch,
} from './knowledge-space.js';

/** A knowledge base: contents, split into chunks and embedded, that agents and callers search. */
export class Knowledge {
  readonly name: string;
  private openSpace: (() => Promise<KnowledgeSpace>) | null = null;
  readonly settings: KnowledgeSettings;

  constructor(settings: KnowledgeSettings) {
    this.settings = checkedKnowledgeSettings(settings);
    this.name = this.settings.name;
  }

  /** Says where its contents are. `open` is called before each use. */
  attach(open: () => Promise<KnowledgeSpace>): void {
    this.openSpace = open;
  }

  async search(text: string, search: KnowledgeSearch = {}): Promise<readonly FoundDocument[]> {
    return this.find(text, checkedSearch(text, search));
  }

  /** For runs, which have read the filter. */
  async find(text: string, search: ReadSearch): Promise<readonly FoundDocument[]> {
    return (await this.space()).search(text, search);
  }

  /** The metadata keys of the contents that have this metadata. */
  async filterKeys(within: JsonObject = {}): Promise<readonly string[]> {
    return (await this.space()).filterKeys(within);
  }

  /** Adds a content. It is indexed in the background: `processed` waits for that. */
  async add(content: GivenContent): Promise<KnowledgeContent> {
    checkContent(content);
    return shown(await (await this.space()).add(content));
  }

  /** The same, unless it was done under this key before, whatever has become of the content since then. */
  async addOnce(key: string, content: GivenContent): Promise<void> {
    checkContent(content);
    return (await this.space()).addOnce(key, content);
  }

  async processed(contentId: string, signal?: AbortSignal): Promise<KnowledgeContent | undefined> {
    const content = await (await this.space()).processed(contentId, signal);
    return content && shown(content);
  }

  async get(contentId: string): Promise<KnowledgeContent | undefined> {
    const content = await (await this.space()).get(contentId);
    return content && shown(content);
  }

  async remove(contentId: string): Promise<void> {
    return (await this.space()).remove(contentId);
  }

  private space(): Promise<KnowledgeSpace> {
    if (this.openSpace === null)
      throw errors.invalidConfig(
        `Knowledge '${this.name}' belongs to no service: define it with knowledge().`,
      );
    return this.openSpace();
  }
}

/** What code sees of a content: a database knows more about it. */
function shown(content: KnowledgeContent): KnowledgeContent {
  const { id, name, description, type, size, metadata, status, statusMessage, createdAt, updatedAt } =
    content;
  return { id, name, description, type, size, metadata, status, statusMessage, createdAt, updatedAt };
}
