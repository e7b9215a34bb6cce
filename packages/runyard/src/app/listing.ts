/** How the pages of a list are read. */
interface Pages<Page, Entry> {
  /** `page` is its number; undefined for the one that was asked for. */
  read(page?: number): Promise<Page>;
  entriesOf(page: Page): { readonly entries: readonly Entry[]; readonly isLast: boolean };
}

/** A list of the API: awaited, it is one page; in `for await`, it is all entries of all pages. */
export class Listing<Page, Entry> implements PromiseLike<Page>, AsyncIterable<Entry> {
  constructor(
    private readonly pages: Pages<Page, Entry>,
    private readonly firstPage = 1,
  ) {}

  // biome-ignore lint/suspicious/noThenProperty: to await a list is to read one page of it
  then<Result = Page, Failure = never>(
    onRead?: ((page: Page) => Result | PromiseLike<Result>) | null,
    onFailed?: ((reason: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Result | Failure> {
    return this.pages.read().then(onRead, onFailed);
  }

  /** One page is in memory at a time, and the next one is read when it is asked for. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Entry, void, void> {
    for (let page = this.firstPage; ; page += 1) {
      const { entries, isLast } = this.pages.entriesOf(await this.pages.read(page));
      yield* entries;
      if (isLast) return;
    }
  }
}

interface PageOf<Entry> {
  readonly data: readonly Entry[];
  readonly meta: { readonly page: number; readonly total_pages: number };
}

/** A list whose body says how many pages there are. `query` may name the page and how long pages are. */
export function pagesOf<Given extends { readonly page?: number | undefined }, Page extends PageOf<unknown>>(
  query: Given,
  read: (query: Given) => Promise<Page>,
): Listing<Page, Page['data'][number]> {
  const entriesOf = ({ data, meta }: Page) => ({
    entries: data,
    isLast: data.length === 0 || meta.page >= meta.total_pages,
  });
  const readPage = (page?: number) => read(page === undefined ? query : { ...query, page });
  return new Listing({ read: readPage, entriesOf }, query.page);
}
