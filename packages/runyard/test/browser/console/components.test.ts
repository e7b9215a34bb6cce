import { expect, test } from 'vitest';
import { agent, knowledge, tool } from '../../../src/index.js';
import { consoleBench } from './open-console.js';
import { checkPage, holding } from './page-checks.js';

const lookup = tool({ name: 'lookup', description: 'Finds an order', execute: () => 'order 7' });
const bench = consoleBench({
  agents: [
    agent({ id: 'support', name: 'Support', model: 'offline', instructions: 'Be brief.', tools: [lookup] }),
  ],
  knowledge: [knowledge({ name: 'Handbook' })],
});
const json = { 'content-type': 'application/json' };
const send = (method: string, path: string, body: object) =>
  bench.service.call(method, path, { headers: json, body: JSON.stringify(body) });

test('a component of the code is copied, edited with a form and as JSON, published, compared and rolled back', async () => {
  const { page, faults } = await bench.open('/components?tab=code');
  await page.getByRole('button', { name: 'Copy Support into a component' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Doorman');
  await page.getByRole('dialog').getByLabel('Id').fill('doorman');
  await page.getByRole('button', { name: 'Create draft' }).click();
  await page.getByRole('heading', { name: 'Doorman', level: 1 }).waitFor();
  expect(await page.getByLabel('lookup').isChecked()).toBe(true);
  await checkPage(page);
  await page.getByRole('button', { name: 'Publish…' }).click();
  await page.getByRole('dialog').getByLabel('Label').fill('first');
  await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
  await page.getByText('Version 1 runs.').waitFor();

  // both views show one draft
  await page.getByLabel('Instructions').fill('Greet the user.');
  await page.getByLabel('Handbook').check();
  await page.getByRole('tab', { name: 'JSON' }).click();
  const text = page.getByRole('textbox', { name: 'Configuration' });
  const config = JSON.parse(await text.inputValue());
  expect(config).toMatchObject({ instructions: 'Greet the user.', knowledge: [{ name: 'Handbook' }] });
  await text.fill(JSON.stringify({ ...config, retries: 'many', colour: 'red' }));
  await page.getByRole('button', { name: 'Save as a new draft' }).click();
  await page.getByText("retries is 'many'. Give a whole number, 0 or more.").waitFor();
  await page.getByRole('tab', { name: 'Form' }).click();
  await page.getByText('The service refuses keys that the form does not show').waitFor();
  await page.getByRole('tab', { name: 'JSON' }).click();
  await text.fill(JSON.stringify(config));
  await page.getByRole('button', { name: 'Save as a new draft' }).click();
  await page.getByText('Saved as the draft 2.').waitFor();
  await page.getByRole('button', { name: 'Publish…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
  await page.getByText('Version 2 runs.').waitFor();

  await page.getByRole('tab', { name: 'Compare' }).click();
  const difference = page.getByRole('listitem').filter({ hasText: 'instructions' });
  await difference.getByText('- Be brief.').waitFor();
  await difference.getByText('+ Greet the user.').waitFor();
  await checkPage(page);
  await page.getByRole('tab', { name: 'Versions' }).click();
  await checkPage(page);
  await page.getByRole('button', { name: 'Actions for version 1' }).click();
  await page.getByRole('menuitem', { name: 'Roll back to it…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Make it current' }).click();
  await page.getByText('Version 1 runs.').waitFor();
  await page.getByRole('tab', { name: 'History' }).click();
  await page.getByText('made current: version 1').waitFor();
  // the one refusal that was asked for
  expect(faults.filter((fault) => !fault.includes('422'))).toEqual([]);
});

test('two versions answer the same message side by side', async () => {
  await send('POST', '/components', {
    name: 'Twin',
    component_type: 'agent',
    config: { model: 'offline' },
    stage: 'published',
  });
  await send('POST', '/components/twin/configs', {
    config: { model: 'offline', name: 'Second' },
    stage: 'draft',
  });
  const { page } = await bench.open('/components/twin?tab=try');
  await page.getByLabel('Message to both').fill('Good day');
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/runs')) asked.push(request.postData() ?? '');
  });
  await page.getByRole('button', { name: 'Run both' }).click();
  await page.getByRole('link', { name: 'Open the run' }).nth(1).waitFor();
  expect(await page.getByText('completed').count()).toBe(2);
  expect(asked.map((body) => JSON.parse(body).version).sort()).toEqual([1, 2]);
  await checkPage(page);
});

test('a conflict shows both sides, a degraded component its reason, and deletion can be taken back', async () => {
  await send('POST', '/components', {
    name: 'Shared',
    component_type: 'agent',
    config: { model: 'offline', tools: [{ name: 'gone', parameters: {} }] },
  });
  const { page } = await bench.open('/components/shared');
  await page.getByText(/names the tool 'gone', which is not registered/).waitFor();
  await page.getByLabel('Instructions').fill('Mine');
  await send('PATCH', '/components/shared/configs/1', {
    config: { model: 'offline', instructions: 'Theirs' },
  });
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Another editor saved this draft.').waitFor();
  await page.getByRole('button', { name: 'Compare', exact: true }).click();
  await page.getByRole('alert').getByText('"Theirs"').waitFor();
  await checkPage(page);
  await page.getByRole('button', { name: 'Overwrite with mine' }).click();
  await page.getByText('Saved.').waitFor();
  const stored = await bench.service.get('/components/shared/configs/1');
  expect(stored.body.config.instructions).toBe('Mine');

  await page.getByRole('button', { name: 'Actions', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL('**/console/components');
  await page.getByLabel('Deleted ones too').check();
  await page.getByRole('link', { name: 'Shared' }).click();
  await page.getByRole('button', { name: 'Restore' }).click();
  await page.getByText('Restored.', { exact: true }).waitFor();
});

test('a reader can look at everything and change nothing', async () => {
  const { page } = await bench.open('/components', holding('components:read', 'agents:read'));
  await page.getByRole('link', { name: /Shared/ }).waitFor();
  await checkPage(page);
  expect(await page.getByRole('button', { name: 'New component' }).count()).toBe(0);
  await page.getByRole('link', { name: /Shared/ }).click();
  await page.getByLabel('Instructions').waitFor();
  expect(await page.getByLabel('Instructions').isDisabled()).toBe(true);
  expect(await page.getByRole('button', { name: /Save|Publish|Actions/ }).count()).toBe(0);
});
