import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Chromium without the windows around the pages comes first: with them, each page costs fifteen times as much. */
const headlessShell = 'chromium-headless-shell';
const names = [headlessShell, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Starts a real browser. */
export function launchChromium(...args: string[]): Promise<Browser> {
  // as root, Chromium needs a flag because its sandbox is not available
  return chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox', ...args] });
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
