import { expect, test } from 'vitest';
import { gate } from '../../support/until.js';
import { chatBench, countCalls, lastTurn, say, turns } from './chat-bench.js';

const bench = chatBench();
const { book } = bench;
const clerk = '/chat/agent/clerk';

test('an answer is streamed as Markdown, with the calls of its tools, what it took, and links', async () => {
  const { page, faults, elsewhere } = await bench.open(clerk);
  await page.getByText('Does the paperwork').waitFor();
  await page.getByRole('button', { name: 'File this for me' }).click();
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('File this for me');
  const rest = gate();
  book.write(
    'What is 2 + 3?',
    { toolCalls: [{ name: 'add', arguments: { left: 2, right: 3 } }] },
    {
      reasoning: 'Two and three.',
      chunks: [
        'The **sum** is',
        rest.opened,
        ' 5.\n\n| a | b |\n|---|---|\n| 2 | 3 |\n\n```js\nadd(2, 3)\n```\n',
      ],
    },
  );
  await say(page, 'What is 2 + 3?');
  const turn = lastTurn(page);
  await turn.locator('strong', { hasText: 'sum' }).waitFor();
  expect(await turn.getAttribute('aria-busy')).toBe('true');
  expect(await page.getByRole('button', { name: 'Stop' }).isVisible()).toBe(true);
  rest.open();
  await turn.getByRole('cell', { name: '3' }).waitFor();
  await turn.locator('pre', { hasText: 'add(2, 3)' }).waitFor();
  await turn.getByRole('button', { name: /Tool call add/ }).click();
  await turn.getByText('left:', { exact: true }).waitFor();
  await turn.getByText('sum:', { exact: true }).waitFor();
  await turn.getByRole('button', { name: 'Reasoning' }).click();
  await turn.getByText('Two and three.').waitFor();
  await turn.getByText('30 tokens').waitFor();
  expect(await turn.getByRole('link', { name: 'Run' }).getAttribute('href')).toContain('/runs/agent/clerk/');
  await turn.getByRole('button', { name: 'Trace' }).click();
  await page.waitForURL('**/console/traces/*');
  await page.getByRole('log').waitFor({ state: 'detached' });
  await page.goBack();
  // the same from what the service has stored
  await lastTurn(page).getByText('30 tokens').waitFor();
  await lastTurn(page)
    .getByRole('button', { name: /Tool call add/ })
    .click();
  await lastTurn(page).getByText('sum:', { exact: true }).waitFor();
  await lastTurn(page).getByRole('cell', { name: '3' }).waitFor();
  expect([elsewhere, faults]).toEqual([[], []]);
});

test('what a model writes is never part of the page', async () => {
  const { page, faults } = await bench.open(clerk);
  const hostile = [
    '<img src=x onerror="document.title=1"> <script>document.title=2</script>',
    '[click](javascript:document.title=3) ![pixel](https://evil.example/pixel.png)',
    'x'.repeat(20_000),
  ];
  await say(page, book.write('Attack', hostile.join('\n\n')));
  const turn = lastTurn(page);
  await turn.getByText('tokens').waitFor();
  expect(await turn.locator('img, script, [href^="javascript" i]').count()).toBe(0);
  expect(await turn.getByText('<img src=x onerror').count()).toBe(1);
  expect(await page.title()).toContain('Clerk');
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBe(1280);
  expect(faults).toEqual([]);
});

test('Escape stops an answer, and the message can be sent again', async () => {
  const { page } = await bench.open(clerk);
  book.write('Long', { chunks: ['Once upon', gate().opened, ' a time'] }, 'The end');
  await say(page, 'Long');
  await lastTurn(page).getByText('Once upon').waitFor();
  await page.keyboard.press('Escape');
  await lastTurn(page).getByText('Stopped').waitFor();
  await page.getByRole('button', { name: 'Run again' }).click();
  await lastTurn(page).getByText('The end').waitFor();
  expect(await turns(page).count()).toBe(2);
  // a message that the service refuses stays, and can be sent again
  const refuse = { status: 400, json: { detail: 'Not today', error_code: 'invalid_request' } };
  await page.route('**/agents/clerk/runs', (route) => route.fulfill(refuse));
  await say(page, book.write('Refused', 'Accepted'));
  await lastTurn(page).getByText('Not today').waitFor();
  await page.unroute('**/agents/clerk/runs');
  await lastTurn(page).getByRole('button', { name: 'Send again' }).click();
  await lastTurn(page).getByText('Accepted').waitFor();
});

test('an answer continues after a reload, in another tab, and from a link to its run', async () => {
  const { page } = await bench.open(clerk);
  const [middle, end] = [gate(), gate()];
  book.write('Story', { chunks: ['One', middle.opened, ', two', end.opened, ', three.'] });
  await say(page, 'Story');
  await lastTurn(page).getByText('One').waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill('not sent yet');
  await page.reload();
  await lastTurn(page).getByText('One', { exact: true }).waitFor();
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('not sent yet');
  const runId = (await lastTurn(page).getAttribute('id'))?.replace('run-', '') ?? '';
  const tab = await page.context().newPage();
  await tab.goto(`${bench.service.url}/console/chat/agent/clerk?run=${runId}`);
  await lastTurn(tab).getByText('One', { exact: true }).waitFor();
  middle.open();
  for (const one of [page, tab]) await lastTurn(one).getByText('One, two', { exact: true }).waitFor();
  end.open();
  for (const one of [page, tab]) await lastTurn(one).getByText('One, two, three.').waitFor();
  // what is said in one tab appears in the other
  await say(tab, book.write('And then?', 'Four.'));
  await lastTurn(page).getByText('Four.').waitFor();
  await tab.close();
});

test('two tabs with a list that is a moment old neither call each other nor stop the next message', async () => {
  const { page } = await bench.open(clerk);
  const end = gate();
  book.write('Echo', { chunks: ['Hello', end.opened, ', hello.'] });
  await say(page, 'Echo');
  await lastTurn(page).getByText('Hello').waitFor();
  const tab = await page.context().newPage();
  await tab.addInitScript(countCalls);
  const calls = () => tab.locator('html').getAttribute('data-calls');
  await tab.goto(page.url());
  await lastTurn(tab).getByText('Hello', { exact: true }).waitFor();
  await page.context().route('**/sessions/*/runs?*', async (route) => {
    const response = await route.fetch();
    const runs: object[] = await response.json();
    await route.fulfill({ response, json: runs.map((run) => ({ ...run, status: 'RUNNING' })) });
  });
  const read = tab.waitForResponse(/\/runs\/[^/]+\/events\?/);
  end.open();
  for (const one of [page, tab]) await lastTurn(one).getByText('Hello, hello.').waitFor();
  // it looks for what came after the end, and there is nothing
  expect((await read).status()).toBe(204);
  expect(await calls()).toBeNull();
  await say(tab, book.write('Once more', 'Goodbye.'));
  await lastTurn(page).getByText('Goodbye.').waitFor();
  expect(Number(await calls())).toBeGreaterThan(0);
});

test('a tab that cannot read the events of another shows the answer when it is stored', async () => {
  const { page } = await bench.open(clerk);
  await say(page, book.write('First', 'One.'));
  await lastTurn(page).getByText('One.').waitFor();
  const tab = await page.context().newPage();
  await tab.goto(page.url());
  await lastTurn(tab).getByText('One.').waitFor();
  await page.route('**/agents/clerk/runs/*/events?*', (route) => route.fulfill({ status: 403, json: {} }));
  const end = gate();
  book.write('Second', { chunks: ['Two', end.opened, ' and three.'] });
  const refused = () => page.waitForResponse(/\/runs\/[^/]+\/events\?/);
  const first = refused();
  await say(tab, 'Second');
  await first;
  // it tries again, and what it shows meanwhile is the same element throughout
  const alert = lastTurn(page).getByRole('alert');
  await alert.evaluate((element) => {
    element.dataset.isFirst = 'true';
  });
  await refused();
  await refused();
  expect(await alert.getAttribute('data-is-first')).toBe('true');
  end.open();
  await lastTurn(page).getByText('Two and three.').waitFor();
});

test('an answer is regenerated in its place, and an edited message branches the conversation', async () => {
  const { page } = await bench.open(clerk);
  await say(page, book.write('Name a town', 'Paris.', 'Lyon.'));
  await lastTurn(page).getByText('Paris.').waitFor();
  await page.getByRole('button', { name: 'Regenerate' }).click();
  await lastTurn(page).getByText('Lyon.').waitFor();
  expect(await page.getByText('Paris.').count()).toBe(0);
  for (const reload of [false, true]) {
    if (reload) await page.reload();
    await lastTurn(page).getByRole('button', { name: 'Previous answer' }).click();
    await lastTurn(page).getByText('Paris.').waitFor();
    expect(await page.getByRole('button', { name: 'Regenerate' }).count()).toBe(0);
    await lastTurn(page).getByRole('button', { name: 'Next answer' }).click();
    await lastTurn(page).getByText('Lyon.').waitFor();
  }
  await say(page, book.write('Another', 'Nice.'));
  await lastTurn(page).getByText('Nice.').waitFor();
  const first = page.url();
  await page.getByRole('textbox', { name: 'Message' }).press('ArrowUp');
  await page.getByLabel('Edited message').fill(book.write('One more', 'Lille.'));
  await page.keyboard.press('Enter');
  await lastTurn(page).getByText('Lille.').waitFor();
  expect(page.url()).not.toBe(first);
  const said = turns(page);
  expect(await said.count()).toBe(2);
  await said.first().getByText('Lyon.').waitFor();
  expect(
    book
      .requests('One more')
      .at(-1)
      ?.messages.map(({ content }) => content),
  ).toEqual(expect.arrayContaining(['Lyon.', 'One more']));
  // the first message has nothing before it
  await said.first().hover();
  await said.first().getByRole('button', { name: 'Edit message' }).click();
  await page.getByLabel('Edited message').fill(book.write('Start over', 'Hello.'));
  await page.getByRole('button', { name: 'Send' }).first().click();
  await lastTurn(page).getByText('Hello.').waitFor();
  await page.goto(first);
  await lastTurn(page).getByText('Nice.').waitFor();
});

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

test('files are dropped and pasted, sent, and come back', async () => {
  const { page, faults } = await bench.open(clerk);
  const give = (type: 'drop' | 'paste', name: string, mime: string, base64: string) =>
    page.getByRole('textbox', { name: 'Message' }).evaluate(
      (element, [kind, file, mimeType, content]) => {
        const data = new DataTransfer();
        const bytes = Uint8Array.from(atob(content), (char) => char.charCodeAt(0));
        data.items.add(new File([bytes], file, { type: mimeType }));
        const init = { bubbles: true, cancelable: true };
        element.dispatchEvent(
          kind === 'drop'
            ? new DragEvent('drop', { ...init, dataTransfer: data })
            : new ClipboardEvent('paste', { ...init, clipboardData: data }),
        );
      },
      [type, name, mime, base64] as const,
    );
  await give('drop', 'note.txt', 'text/plain', btoa('The launch is on Friday.'));
  await give('paste', 'dot.png', 'image/png', png);
  await give('drop', 'virus.exe', 'application/x-msdownload', btoa('x'));
  await page.getByText('virus.exe has a type that agents cannot read.').waitFor();
  const attached = page.getByRole('list', { name: 'Attached files' });
  expect(await attached.getByRole('listitem').count()).toBe(2);
  book.write('Look', {
    text: 'Here is one.',
    media: [{ mimeType: 'image/png', bytes: Buffer.from(png, 'base64') }],
  });
  await say(page, 'Look');
  await lastTurn(page).getByText('Here is one.').waitFor();
  const media = book.requests('Look').at(-1)?.messages.at(-1)?.media ?? [];
  expect(media.map(({ kind }) => kind).sort()).toEqual(['file', 'image']);
  const loaded = () =>
    lastTurn(page)
      .locator('img')
      .evaluateAll(
        (images) => images.filter((image) => (image as HTMLImageElement).naturalWidth === 1).length,
      );
  await expect.poll(loaded, { timeout: 30_000 }).toBe(2);
  await page.reload();
  await lastTurn(page).getByText('note.txt').waitFor();
  await expect.poll(loaded, { timeout: 30_000 }).toBe(2);
  expect(faults).toEqual([]);
});

test('sessions are listed, found, renamed and deleted', async () => {
  const { page } = await bench.open(clerk);
  await say(page, book.write('Plan a picnic', 'Bring a blanket.'));
  await lastTurn(page).getByText('Bring a blanket.').waitFor();
  const list = page.getByRole('navigation', { name: 'Sessions' });
  await list.locator('[aria-current]', { hasText: 'Plan a picnic' }).waitFor();
  await list.getByRole('button', { name: 'Actions for Plan a picnic' }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Sunday');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await list.getByText('Sunday').waitFor();
  await page.getByRole('searchbox', { name: 'Search sessions' }).fill('sund');
  await expect.poll(() => list.getByRole('listitem').count(), { timeout: 60_000 }).toBe(1);
  await list.getByRole('button', { name: 'Actions for Sunday' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete session' }).click();
  await page.getByText('No session has this in its name.').waitFor();
  await page.waitForURL((url) => !url.search.includes('session'));
  await page.getByText('Does the paperwork').waitFor();
});

test('earlier messages of a long session are loaded above, and what is read stays in its place', async () => {
  for (let number = 1; number <= 25; number += 1)
    await bench.service.run('clerk', { message: `Message ${number}.`, session_id: 'long' });
  const { page } = await bench.open(`${clerk}?session=long`);
  await lastTurn(page).getByText('Answer to: Message 25.').waitFor();
  expect(await turns(page).count()).toBe(20);
  const sixth = turns(page).filter({ hasText: 'Answer to: Message 6.' });
  await page.getByRole('button', { name: 'Show earlier messages' }).scrollIntoViewIfNeeded();
  const before = await sixth.boundingBox();
  await page.getByRole('button', { name: 'Show earlier messages' }).click();
  await turns(page).filter({ hasText: 'Answer to: Message 1.' }).waitFor({ state: 'attached' });
  expect(await turns(page).count()).toBe(25);
  const after = await sixth.boundingBox();
  expect(Math.abs((after?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(60);
  expect(await page.getByRole('button', { name: 'Show earlier messages' }).count()).toBe(0);
});

test('reasoning, references and the sources of an answer are there after a reload, too', async () => {
  const { page } = await bench.open('/chat/agent/thinker');
  await say(page, 'How many?');
  await lastTurn(page).getByText('Three.', { exact: true }).waitFor();
  for (const reload of [false, true]) {
    if (reload) await page.reload();
    await lastTurn(page).getByRole('button', { name: 'Reasoning' }).click();
    await lastTurn(page).getByText('One by one').waitFor();
    await lastTurn(page).getByText('Confidence 90 %').waitFor();
  }
  await page.goto(`${bench.service.url}/console/chat/agent/reader`);
  const sources = [
    { url: 'https://example.com/lamps', title: 'Lamps' },
    { url: 'javascript:document.title=1', title: 'Trap' },
  ];
  book.write(
    'How long?',
    { toolCalls: [{ name: 'search_knowledge_base', arguments: { query: 'lamp' } }] },
    { text: 'Two days.', citations: { sources } },
  );
  await say(page, 'How long?');
  await lastTurn(page).getByText('Two days.').waitFor();
  for (const reload of [false, true]) {
    if (reload) await page.reload();
    await lastTurn(page).getByRole('button', { name: '1 reference from knowledge' }).click();
    await lastTurn(page).getByRole('button', { name: 'delivery.md' }).click();
    const drawer = page.getByRole('dialog', { name: 'delivery.md' });
    await drawer.locator('strong', { hasText: 'two' }).waitFor();
    await drawer.getByRole('button', { name: 'Close' }).click();
    expect(await lastTurn(page).getByRole('link', { name: 'Lamps' }).getAttribute('href')).toBe(
      sources[0]?.url,
    );
    await lastTurn(page).getByText('Trap').waitFor();
    expect(await lastTurn(page).getByRole('link', { name: 'Trap' }).count()).toBe(0);
  }
});

test('a factory asks for what it builds the agent from, and an unknown agent is named', async () => {
  const { page } = await bench.open('/chat/agent/translator');
  await page.getByText('language: required').waitFor();
  await page.getByLabel('language').fill('French');
  await page.getByLabel('formal').uncheck();
  await say(page, book.write('Good morning', 'Salut'));
  await lastTurn(page).getByText('Salut').waitFor();
  expect(book.requests('Good morning')[0]?.messages[0]?.content).toContain('French familiar');
  await page.goto(`${bench.service.url}/console/chat/agent/nobody`);
  await page.getByText('There is no agent “nobody”').waitFor();
  await page.getByRole('link', { name: 'Open another chat' }).click();
  await page.waitForURL('**/chat/agent/translator');
});
