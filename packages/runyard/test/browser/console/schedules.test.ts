import { expect, test } from 'vitest';
import { agent, schedule } from '../../../src/index.js';
import { consoleBench } from './open-console.js';
import { checkPage, gone, holding } from './page-checks.js';

const reporter = agent({ id: 'reporter', name: 'Reporter', model: 'offline' });
const bench = consoleBench({
  agents: [reporter],
  schedules: [
    schedule({
      name: 'nightly',
      cron: '0 3 * * *',
      timezone: 'Europe/Berlin',
      agent: reporter,
      message: 'Summarise the day.',
    }),
  ],
});

test('a schedule is created with a preview, executed, edited and deleted', async () => {
  const { page, faults } = await bench.open('/schedules', { timezoneId: 'Asia/Tokyo', locale: 'en-GB' });
  await page.getByText('Every day at 03:00').waitFor();
  await checkPage(page);
  await page.getByRole('button', { name: 'New schedule' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('weekly digest');
  await dialog.getByLabel('Cron').fill('0 9 * * 8');
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Cron').fill('30 9 * * MON');
  const preview = dialog.getByRole('region', { name: 'Next ticks' });
  await preview.getByText('At 09:30, only on Monday').waitFor();
  expect(await preview.getByText(/^Mon.* 09:30$/).count()).toBe(5);
  // nine hours ahead of UTC: the reader sees the evening
  await dialog.getByLabel('Time zone').fill('UTC');
  await preview
    .getByText(/^Mon.* 18:30$/)
    .first()
    .waitFor();
  await dialog.getByLabel('Message').fill('Summarise the week.');
  await checkPage(page);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'weekly digest', level: 1 }).waitFor();
  await page.getByText('Not executed yet').waitFor();

  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByText('Executed: success.').waitFor();
  await page.getByRole('row').filter({ hasText: 'by hand' }).getByText('success').waitFor();
  await checkPage(page);
  await page.getByRole('button', { name: 'Actions', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Edit…' }).click();
  expect(await dialog.getByLabel('Message').inputValue()).toBe('Summarise the week.');
  await dialog.getByLabel('Cron').fill('@hourly');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Every hour').first().waitFor();
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('button', { name: 'Enable' }).waitFor();
  const run = page.getByRole('link', { name: 'Open the run' });
  expect(await run.getAttribute('href')).toMatch(/\/console\/runs\/agent\/reporter\//);

  await page.getByRole('button', { name: 'Actions', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL('**/console/schedules');
  await gone(page.getByRole('row').filter({ hasText: 'weekly digest' }));
  expect(faults).toEqual([]);
});

test('a schedule of the code is switched in the list; a reader cannot', async () => {
  const { page } = await bench.open('/schedules');
  await page.getByRole('switch', { name: 'nightly is enabled' }).uncheck();
  await page.getByRole('row').getByText('disabled', { exact: true }).waitFor();
  expect((await bench.service.get('/schedules')).body.data[0].enabled).toBe(false);
  await page.getByRole('switch', { name: 'nightly is enabled' }).check();
  await page.getByRole('link', { name: /nightly/ }).click();
  await page.getByText('defined in the code').waitFor();
  expect(await page.getByRole('button', { name: 'Actions', exact: true }).count()).toBe(0);
  const reader = await bench.open('/schedules', holding('schedules:read'));
  await reader.page.getByRole('link', { name: /nightly/ }).waitFor();
  expect(await reader.page.getByRole('switch').count()).toBe(0);
  expect(await reader.page.getByRole('button', { name: 'New schedule' }).count()).toBe(0);
});
