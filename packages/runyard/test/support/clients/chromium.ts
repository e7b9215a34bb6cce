import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterEach, beforeAll } from 'vitest';
import { patience } from '../patience.js';
import { ReusedPage } from './reused-page.js';

/** Chromium without the windows around the pages: with them, each page costs fifteen times as much. */
const headlessShell = 'chromium-headless-shell';
const withWindows = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

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
 * The browser named by RUNYARD_TEST_CHROMIUM, the one without windows from the path or the system's package manager,
 * another one on the path, one that playwright installed, or a whole one from the package manager. There is no test
 * without it, so a machine that cannot have one gets an error.
 */
function findChromium(): string {
  const found =
    (process.env.RUNYARD_TEST_CHROMIUM || undefined) ??
    installed(headlessShell) ??
    onPath(withWindows) ??
    (existsSync(chromium.executablePath()) ? chromium.executablePath() : undefined) ??
    installed('chromium');
  if (found) return found;
  throw new Error('No Chromium to test with: install one, or name it in RUNYARD_TEST_CHROMIUM.');
}

function onPath(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

/**
 * The program of a package that apt installs when it is missing. Several files may need the browser at once, and the
 * package manager refuses the second one. The lock notes what the test run has tried: not every release has the
 * package, and to ask again takes long.
 */
function installed(name: string): string | undefined {
  if (process.getuid?.() === 0) {
    const lock = join(tmpdir(), `runyard-${name}.lock`);
    const apt = 'apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=20';
    const install = `${apt} install -y --no-install-recommends "$0"`;
    const tried = `{ ${install} || { ${apt} update; ${install}; }; echo "$1" > "$2"; }`;
    const script = `command -v "$0" || grep -qx "$1" "$2" || ${tried}`;
    spawnSync('flock', [lock, 'sh', '-c', script, name, process.env.RUNYARD_TEST_RUN ?? '', lock], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  }
  return onPath([name]);
}
