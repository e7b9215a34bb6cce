import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterEach, beforeAll } from 'vitest';
import { patience } from '../patience.js';
import { ReusedPage } from './reused-page.js';

/** Chromium without the windows around the pages comes first: with them, each page costs fifteen times as much. */
const headlessShell = 'chromium-headless-shell';
const names = [headlessShell, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

interface SharedChromium {
  readonly browser: Browser;
  readonly page: ReusedPage;
}

let shared: Promise<SharedChromium> | undefined;

/**
 * A browser for the tests of a file, which the files of a process share. What a test has opened is closed after it:
 * pages that stay open poll and animate while other tests run.
 */
export function sharedChromium(): SharedChromium {
  let launched: SharedChromium | undefined;
  beforeAll(async () => {
    shared ??= launchForProcess();
    launched = await shared;
  });
  afterEach(async ({ task }) => {
    if (launched === undefined) return;
    const { browser, page } = launched;
    const contexts = browser.contexts().filter((context) => context !== page.context);
    await Promise.all([
      ...contexts.map((context) => context.close()),
      page.giveBack(task.result?.state !== 'pass'),
    ]);
  });
  const now = () => {
    if (launched === undefined) throw new Error('The browser is there when the tests run.');
    return launched;
  };
  return {
    get browser() {
      return now().browser;
    },
    get page() {
      return now().page;
    },
  };
}

async function launchForProcess(): Promise<SharedChromium> {
  const browser = await launchChromium();
  browser.once('disconnected', () => {
    shared = undefined;
  });
  // The signal ends a process that has run its files. At its exit, playwright kills the browser and removes its profile.
  process.once('SIGTERM', () => process.exit());
  return { browser, page: new ReusedPage(browser) };
}

/** Starts a real browser, whose pages wait as long as a slow machine takes. */
export async function launchChromium(...args: string[]): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: findChromium(),
    // as root, Chromium needs a flag because its sandbox is not available
    args: ['--no-sandbox', ...args],
    handleSIGTERM: false,
    timeout: patience(120_000),
  });
  return browser.on('context', (context) => context.setDefaultTimeout(patience(120_000)));
}

/**
 * The browser named by RUNYARD_TEST_CHROMIUM, one on the path, one that playwright installed, or one from the
 * system's package manager. There is no test without it, so a machine that cannot have one gets an error.
 */
function findChromium(): string {
  const given = process.env.RUNYARD_TEST_CHROMIUM;
  if (given) return given;
  const found = onPath() ?? (existsSync(chromium.executablePath()) ? chromium.executablePath() : undefined);
  if (found) return found;
  if (process.getuid?.() === 0) installWithApt();
  const installed = onPath();
  if (installed) return installed;
  throw new Error('No Chromium to test with: install one, or name it in RUNYARD_TEST_CHROMIUM.');
}

function onPath(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** Several files may need the browser at once, and the package manager refuses the second one. */
function installWithApt(): void {
  const install = `command -v ${headlessShell} || { apt-get update -qq; apt-get install -y -qq --no-install-recommends ${headlessShell}; }`;
  spawnSync('flock', [join(tmpdir(), 'runyard-chromium.lock'), 'sh', '-c', install], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}
