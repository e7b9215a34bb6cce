import { expect, test } from 'vitest';
import { agent } from '../../../src/index.js';
import { consoleBench } from './open-console.js';
import { checkPage, fitsPhone, gone } from './page-checks.js';

const hostile = '<img src=x onerror="document.title=\'hacked\'">';
const bench = consoleBench({
  agents: [
    agent({
      id: 'parrot',
      name: 'Parrot',
      model: 'offline',
      instructions: `Always answer with "Paris ${hostile}"`,
    }),
    agent({ id: 'mute', name: 'Mute', model: 'offline', instructions: 'Always answer with "Nothing."' }),
  ],
  teams: [],
  workflows: [],
});

test('a dataset is made, its cases are edited, and an eval of it runs to its results', async () => {
  const { page, faults } = await bench.open('/evals');
  await page.getByText('No evals yet').waitFor();
  await page.getByRole('link', { name: 'Datasets' }).click();
  await page.getByText('No datasets yet').waitFor();
  await page.getByRole('button', { name: 'New dataset' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('capitals');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'capitals', level: 1 }).waitFor();
  const addCase = async (id: string, input: string, output: string) => {
    await page.getByRole('button', { name: 'New case' }).click();
    const dialog = page.getByRole('dialog', { name: 'New case' });
    await dialog.getByLabel('Id', { exact: true }).fill(id);
    await dialog.getByLabel('Input', { exact: true }).fill(input);
    await dialog.getByLabel('Expected output').fill(output);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await addCase('france', 'The capital of France?', 'Paris');
  await addCase('japan', 'The capital of Japan?', 'Kyoto');
  const cases = page.getByRole('table', { name: 'Cases' });
  await cases.getByRole('row', { name: /japan/ }).getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog', { name: 'Case japan' });
  await dialog.getByLabel('Expected tool calls as JSON').fill('{}');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('Expected tool calls as JSON').fill('');
  await dialog.getByLabel('Expected output').fill('Tokyo');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await cases.getByText('Tokyo').waitFor();
  await fitsPhone(page);

  await page.getByRole('link', { name: 'Evaluate' }).click();
  const form = page.getByRole('dialog', { name: 'Run an eval' });
  await form.getByLabel('Type').selectOption('custom');
  await form.getByLabel('Name').fill('Capitals');
  await form.getByLabel('Iterations').fill('2');
  await fitsPhone(page);
  await form.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('heading', { name: 'Capitals', level: 1 }).waitFor();
  await page.getByText('4 of 4').first().waitFor();
  const results = page.getByRole('table', { name: 'Results' });
  await results.getByRole('row', { name: /japan no\. 2.*contains failed/ }).waitFor();
  const row = results.getByRole('row', { name: /france no\. 1.*contains passed/ });
  await row.getByRole('button', { name: 'Open' }).click();
  await page.getByRole('dialog').getByText('Paris <img').waitFor();
  await page.keyboard.press('Escape');
  await checkPage(page);
  expect(await page.title()).toBe('Capitals · Runyard');
  expect(faults).toEqual([]);
});

test('two evals are compared, an eval has a history, and lists are filtered', async () => {
  const request = { eval_type: 'custom', scorers: ['contains'], num_iterations: 3, expected_output: 'Paris' };
  const evaluated = async (fields: object) => {
    const body = JSON.stringify({ ...request, input: 'The capital of France?', ...fields });
    const headers = { 'content-type': 'application/json' };
    return (await bench.service.call('POST', '/eval-runs', { headers, body })).body.id;
  };
  await evaluated({ agent_id: 'mute', name: 'Before' });
  await evaluated({ agent_id: 'parrot', name: 'Guide' });
  const last = await evaluated({ agent_id: 'parrot', name: 'Guide' });
  const { page, faults } = await bench.open('/evals');
  await page.getByRole('checkbox', { name: 'Compare Before' }).check();
  await page.getByRole('checkbox', { name: 'Compare Guide' }).first().check();
  await page.getByRole('button', { name: 'Compare 2/2' }).click();
  const byCase = page.getByRole('table', { name: 'Differences by case' });
  await byCase.getByRole('row', { name: /input contains 0 1 .*better/ }).waitFor();
  await fitsPhone(page);
  await page.getByLabel('Cases').selectOption('worse');
  await page.getByText('No such cases').waitFor();

  await page.getByRole('tab', { name: 'History' }).click();
  await page.getByRole('img', { name: 'contains of 2 runs, from 100 % to 100 %' }).waitFor();
  expect(await page.getByRole('table', { name: 'History' }).getByRole('row').count()).toBe(3);
  await fitsPhone(page);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete eval' }).click();
  await page.waitForURL('**/console/evals');
  await page.getByLabel('Component').selectOption('agent/mute');
  await page.getByRole('link', { name: 'Before' }).waitFor();
  await gone(page.getByRole('link', { name: 'Guide' }));
  await checkPage(page);
  expect((await bench.service.get(`/eval-runs/${last}`)).status).toBe(404);
  expect(faults).toEqual([]);
});
