import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * A real browser: the one named by RUNYARD_TEST_CHROMIUM, one on the path, one that playwright installed, or one
 * from the system's package manager. There is no test without it, so a machine that cannot have one gets an error.
 */
export function findChromium(): string {
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

function installWithApt(): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  spawnSync('apt-get', ['update', '-qq'], { env });
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { env });
}
