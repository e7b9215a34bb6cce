// functions that run in the page use its types
/// <reference lib="dom" />
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { agent, type RunyardOptions, step, team, tool, workflow } from '../../../src/index.js';
import { sharedChromium } from '../../support/clients/chromium.js';
import { usualView } from '../../support/clients/reused-page.js';
import { ScriptBook } from '../../support/providers/script-book.js';
import { TestService } from '../../support/service.js';

/** A page of the console, with what it must not do. */
export interface OpenedPage {
  readonly page: Page;
  /** Requests to other hosts. */
  readonly elsewhere: string[];
  /** Errors in the page and in its console, violations of the content security policy included. */
  readonly faults: string[];
}

export interface ConsoleBench {
  /** A service with an agent that calls tools, a team and a workflow. */
  readonly service: TestService;
  readonly browser: Browser;
  /** What the agent `clerk` answers: `book.write('Question', 'Answer')` returns the message that gets the answer. */
  readonly book: ScriptBook;
  /** Opens an address below `/console`: the first of a test in the shared page, others in a browser context of their own. */
  open(path?: string, options?: OpenOptions): Promise<OpenedPage>;
}

export interface OpenOptions extends BrowserContextOptions {
  /** Another service than that of the bench. */
  readonly url?: string;
  /** What the person has given as a token before. */
  readonly token?: string;
}

/** A service, a browser and a way to open the console, for the tests of a file. */
export function consoleBench(options: RunyardOptions = {}): ConsoleBench {
  const book = new ScriptBook();
  const chromium = sharedChromium();
  let service: TestService | undefined;
  beforeAll(async () => {
    service = await TestService.start({ ...components(book), ...options });
  });
  afterAll(() => service?.stop());
  const started = () => {
    if (service === undefined) throw new Error('The service is there when the tests run.');
    return service;
  };
  return {
    book,
    get service() {
      return started();
    },
    get browser() {
      return chromium.browser;
    },
    open: (path = '', { url, ...options } = {}) => openConsole(chromium, url ?? started().url, path, options),
  };
}

function components(book: ScriptBook): RunyardOptions {
  const refund = tool({
    name: 'refund',
    description: 'Refunds',
    requiresConfirmation: true,
    execute: () => 'refunded',
  });
  const clerk = agent({ id: 'clerk', name: 'Clerk', model: book.model, tools: [refund] });
  const assistant = agent({ id: 'assistant', name: 'Assistant', model: 'offline' });
  return {
    name: 'Yard',
    agents: [clerk, assistant],
    teams: [team({ id: 'crew', name: 'Crew', model: 'offline', members: [assistant] })],
    workflows: [workflow({ id: 'flow', name: 'Flow', steps: [step({ name: 'answer', agent: assistant })] })],
  };
}

async function openConsole(
  chromium: ReturnType<typeof sharedChromium>,
  service: string,
  path: string,
  options: Omit<OpenOptions, 'url'>,
): Promise<OpenedPage> {
  const url = `${service}/console${path}`;
  const page = (await reusedPage(chromium, service, options)) ?? (await newPage(chromium.browser, options));
  const elsewhere: string[] = [];
  const faults: string[] = [];
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith('http') && host !== new URL(url).host) elsewhere.push(request.url());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  await page.goto(url);
  await page.getByRole('main').waitFor();
  return { page, elsewhere, faults };
}

const tokenKey = 'runyard.token';

/** Undefined when the test has it already, or wants what only a new page has. */
async function reusedPage(
  chromium: ReturnType<typeof sharedChromium>,
  service: string,
  { token, viewport, colorScheme, reducedMotion, ...others }: Omit<OpenOptions, 'url'>,
): Promise<Page | undefined> {
  if (Object.keys(others).length > 0) return undefined;
  const view = {
    viewport: viewport ?? usualView.viewport,
    reducedMotion: reducedMotion ?? usualView.reducedMotion,
    colorScheme,
  };
  return chromium.page.take(service, view, token === undefined ? {} : { [tokenKey]: token });
}

/** In a browser context of its own. */
async function newPage(browser: Browser, { token, ...options }: Omit<OpenOptions, 'url'>): Promise<Page> {
  const context = await browser.newContext({ ...usualView, ...options });
  if (token !== undefined)
    await context.addInitScript(([key, given]) => sessionStorage.setItem(key, given), [
      tokenKey,
      token,
    ] as const);
  return context.newPage();
}
