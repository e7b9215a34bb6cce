import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { consoleBench } from './open-console.js';
import { checkPage, holding } from './page-checks.js';

const key = 'x'.repeat(32);
const folder = mkdtempSync(join(tmpdir(), 'runyard-console-'));
const bench = consoleBench({ securityKey: key, databases: { archive: `sqlite://${folder}/archive.db` } });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the token of a new service account is shown once and works until it is revoked', async () => {
  const { page, faults } = await bench.open('/settings?tab=accounts', { token: key });
  await page.getByText('No service accounts yet').waitFor();
  await page.getByRole('button', { name: 'New service account' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('ci-bot');
  await dialog.getByRole('textbox', { name: 'Scopes' }).fill('agents:run\nconfig:read, config:write');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog
    .getByRole('alert')
    .getByText(/allow_privileged_scopes/)
    .waitFor();
  await dialog.getByRole('textbox', { name: 'Scopes' }).fill('agents:run config:read');
  await checkPage(page);
  await dialog.getByRole('button', { name: 'Create' }).click();
  const secret = page.getByRole('dialog', { name: 'Token of ci-bot' });
  const token = (await secret.getByRole('code').textContent()) ?? '';
  const asked = () => bench.service.get('/config', { authorization: `Bearer ${token}` });
  expect((await asked()).status).toBe(200);
  await checkPage(page);
  await secret.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('row').filter({ hasText: 'ci-bot' }).getByText('agents:run').waitFor();
  expect(await page.getByText(token).count()).toBe(0);
  await checkPage(page);
  await page.getByRole('button', { name: 'Revoke ci-bot' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No service accounts yet').waitFor();
  expect((await asked()).status).toBe(401);
  // the one refusal that was asked for
  expect(faults.filter((fault) => !fault.includes('422') && !fault.includes('400'))).toEqual([]);
});

test('a migration shows its SQL and what it deletes before it is executed', async () => {
  const { page } = await bench.open('/settings?tab=databases', { token: key });
  await page.getByText('current').first().waitFor();
  await checkPage(page);
  await page.getByRole('button', { name: 'Migrate archive' }).click();
  const dialog = page.getByRole('dialog');
  const version = dialog.getByLabel('To version');
  const latest = Number(await version.inputValue());
  expect(await dialog.getByRole('button', { name: 'Migrate', exact: true }).isDisabled()).toBe(true);
  await version.fill('21');
  await dialog.getByRole('button', { name: 'Show the SQL' }).click();
  await dialog.getByText('DROP TABLE schedule_turns').waitFor();
  await dialog.getByText(`Version ${latest} → 21, nothing is executed yet`).waitFor();
  await checkPage(page);
  await version.fill(String(latest));
  await dialog.getByRole('button', { name: 'Show the SQL' }).click();
  await dialog.getByText('Nothing to do').waitFor();
  // down and up again
  for (const target of [latest - 1, latest]) {
    await version.fill(String(target));
    await dialog.getByRole('button', { name: 'Show the SQL' }).click();
    await dialog.getByText('nothing is executed yet').waitFor();
    await dialog.getByRole('button', { name: 'Migrate', exact: true }).click();
    await dialog.getByText('nothing is executed yet').waitFor({ state: 'detached' });
    await dialog.getByText('done', { exact: true }).first().waitFor();
    const { body } = await bench.service.get('/databases', { authorization: `Bearer ${key}` });
    expect(body).toContainEqual(expect.objectContaining({ db_id: 'archive', version: target }));
  }
});

test('with several databases, pages show the main one until another is chosen, also in links', async () => {
  for (const [id, memory] of [
    ['default', 'Likes tea'],
    ['archive', 'Liked coffee'],
  ])
    await bench.service.call('POST', `/memories?db_id=${id}`, {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ memory, user_id: 'ada' }),
    });
  const { page } = await bench.open('/memory', { token: key });
  await page.getByText('Likes tea', { exact: true }).waitFor();
  await page.getByRole('complementary').getByLabel('Database').selectOption('archive');
  await page.getByText('Liked coffee', { exact: true }).waitFor();
  expect(await page.getByText('Likes tea', { exact: true }).count()).toBe(0);
  await page.getByRole('link', { name: 'Traces' }).click();
  await page.getByText('No traces yet').waitFor();
  expect(page.url()).toContain('db=archive');
  await page.goBack();
  await page.reload();
  await page.getByText('Liked coffee', { exact: true }).waitFor();
});

test('the state of the service is shown, and only what scopes allow', async () => {
  const { page } = await bench.open('/settings?tab=service', { token: key });
  await page.getByText('a security key').waitFor();
  await page.getByText('ok').first().waitFor();
  await checkPage(page);
  const reader = await bench.open('/settings', { ...holding('agents:run') });
  // the service does not know this token: the page behind the dialog shows what it would allow
  await reader.page.getByRole('dialog').waitFor();
  expect(await reader.page.locator('[role=tab]').allInnerTexts()).toEqual(['This browser', 'Service']);
});
