// functions that run in the page use its types
/// <reference lib="dom" />
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core';

/** How a page looks; nothing of it stays for the next test. */
export interface View {
  readonly viewport: { readonly width: number; readonly height: number };
  readonly colorScheme?: BrowserContextOptions['colorScheme'];
  readonly reducedMotion: BrowserContextOptions['reducedMotion'];
}

export const usualView = {
  viewport: { width: 1280, height: 800 },
  // a page draws nothing while nothing happens in it
  reducedMotion: 'reduce',
} as const satisfies View;

/**
 * A page that one test after the other uses: what a new page spends on a process of its own, and on compiling the same
 * scripts again, is more than half of what a test costs. Between tests it forgets what they stored and changed.
 */
export class ReusedPage {
  #opened:
    | { readonly context: BrowserContext; readonly page: Page; readonly session: CDPSession }
    | undefined;
  #isTaken = false;
  #service = '';

  constructor(private readonly browser: Browser) {}

  get context(): BrowserContext | undefined {
    return this.#opened?.context;
  }

  /** The page, with this in the session storage of the service. Undefined when the test has the page already. */
  async take(
    service: string,
    view: View,
    stored: Readonly<Record<string, string>> = {},
  ): Promise<Page | undefined> {
    if (this.#isTaken) return undefined;
    this.#isTaken = true;
    this.#service = service;
    this.#opened ??= await this.#open();
    const { page } = this.#opened;
    await page.setViewportSize(view.viewport);
    await page.emulateMedia({
      colorScheme: view.colorScheme ?? 'light',
      reducedMotion: view.reducedMotion ?? null,
    });
    if (Object.keys(stored).length > 0) await store(page, service, stored);
    return page;
  }

  async #open() {
    const context = await this.browser.newContext({ ...usualView });
    const page = await context.newPage();
    return { context, page, session: await context.newCDPSession(page) };
  }

  /** Undoes what the test did to the page. The next test has a new one where that may not have worked. */
  async giveBack(hasFailed: boolean): Promise<void> {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    if (this.#opened === undefined) return;
    const { context, page, session } = this.#opened;
    try {
      if (!hasFailed) return await reset(context, page, session, this.#service);
    } catch {
      // closed by the test, or busy with what it left there
    }
    this.#opened = undefined;
    await context.close();
  }
}

/** Stores the items from a document without scripts, so that the scripts of the next page find them. */
async function store(page: Page, service: string, items: Readonly<Record<string, string>>): Promise<void> {
  await page.goto(`${service}/health`);
  await page.evaluate((given) => {
    for (const [key, value] of Object.entries(given)) sessionStorage.setItem(key, value);
  }, items);
}

async function reset(
  context: BrowserContext,
  page: Page,
  session: CDPSession,
  service: string,
): Promise<void> {
  const others = context.pages().filter((other) => other !== page);
  await Promise.all(others.map((other) => other.close()));
  await page.removeAllListeners(undefined, { behavior: 'ignoreErrors' });
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await context.unrouteAll({ behavior: 'ignoreErrors' });
  await context.setOffline(false);
  // the pointer would hover over the next page
  await page.mouse.move(-1, -1);
  await clearStorage(page, service);
  await page.goto('about:blank');
  await session.send('Storage.clearDataForOrigin', { origin: service, storageTypes: 'all' });
  await session.send('Page.resetNavigationHistory');
  await context.clearPermissions();
}

/**
 * Not every version of Chromium clears the storage of a session on request. A document without scripts does, which no
 * service has to send.
 */
async function clearStorage(page: Page, service: string): Promise<void> {
  await page.route(`${service}/`, (route) => route.fulfill({ contentType: 'text/html', body: '' }));
  await page.goto(`${service}/`);
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  await page.unrouteAll();
}
