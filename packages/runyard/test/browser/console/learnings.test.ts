import { expect, test } from 'vitest';
import { consoleBench } from './open-console.js';
import { checkPage, gone, holding } from './page-checks.js';

const bench = consoleBench();

test('learnings are written, filtered, opened, changed and deleted', async () => {
  const { page, faults } = await bench.open('/learnings');
  await page.getByText('No learnings yet').waitFor();
  await checkPage(page);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'New learning' }).click();
  await dialog.getByLabel('User').fill('ada');
  await dialog.getByLabel('Content').fill('{"name": ');
  await dialog.getByText(/This is not JSON/).waitFor();
  await dialog.getByLabel('Content').fill('{"name": "<b onclick=hack()>Ada</b>", "language": "English"}');
  await checkPage(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('name: <b onclick=hack()>Ada</b> · language: English').waitFor();
  await page.getByRole('button', { name: 'New learning' }).click();
  await dialog.getByLabel('Type', { exact: true }).fill('note');
  await dialog.getByLabel('Content').fill('{"text": "Closed on Mondays"}');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Closed on Mondays').waitFor();
  await checkPage(page);

  await page.getByLabel('Type', { exact: true }).selectOption('user_profile');
  await gone(page.getByText('Closed on Mondays'));
  await page.getByRole('button', { name: /^ada/ }).click();
  await dialog.getByText('user_profile_ada').waitFor();
  await checkPage(page);
  await dialog.getByRole('button', { name: 'Edit…' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit learning' });
  await edit.getByLabel('Content').fill('{"name": "Ada Lovelace"}');
  await edit.getByRole('button', { name: 'Save' }).click();
  await edit.waitFor({ state: 'hidden' });
  await dialog.getByText('"Ada Lovelace"').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();

  await page.getByRole('tab', { name: 'Users' }).click();
  await page.getByRole('button', { name: 'Delete all learnings of ada' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete all' }).click();
  await page.getByText('No users have learnings yet').waitFor();
  expect((await bench.service.get('/learnings')).body.meta.total_count).toBe(1);
  expect(faults).toEqual([]);
});

test('a reader sees learnings and no actions', async () => {
  const { page } = await bench.open('/learnings', holding('learnings:read'));
  await page.getByRole('button', { name: /Closed on Mondays/ }).click();
  await page.getByRole('dialog').getByText('"Closed on Mondays"').waitFor();
  expect(await page.getByRole('button', { name: /New learning|Edit|Delete/ }).count()).toBe(0);
});
