import { afterAll, beforeAll, expect, test } from 'vitest';
import { routes } from '../../../src/capabilities/capabilities.js';
import { knowledge } from '../../../src/index.js';
import { components, Sessions } from '../../support/components/sessions.js';
import { type Body, TestService } from '../../support/service.js';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start({ ...components, knowledge: [knowledge({ name: 'handbook' })] });
});
afterAll(() => service.stop());

/** Every operation with a limit in its query, with what else the query must have. */
async function lists(): Promise<string[]> {
  const { paths } = (await service.get('/openapi.json')).body;
  return Object.entries<Body>(paths).flatMap(([path, { get }]) => {
    const query: Body[] = (get?.parameters ?? []).filter(({ in: place }: Body) => place === 'query');
    if (!query.some(({ name }) => name === 'limit')) return [];
    const needed = query.filter(({ required }) => required).map(({ name }) => `${name}=writer&`);
    return [`${path.replace(/\{\w+_id\}/g, 'writer')}?${needed.join('')}`];
  });
}

test('no list holds more than 1000 entries, whatever is asked for', async () => {
  await new Sessions(service).create({ session_id: 'writer' });
  const paths = await lists();
  const named = routes.filter(({ path, method }) => method === 'GET' && /s$/.test(path));
  expect(paths.length).toBeGreaterThan(10);
  expect(named.length).toBeGreaterThan(paths.length / 2);
  for (const path of paths) {
    const { status, body } = await service.get(`${path}limit=1000000000`);
    expect([200, 401, 422], path).toContain(status);
    if (status === 200) expect(body.meta.limit, path).toBe(1000);
    if (status === 422)
      expect(body.detail[0], path).toMatchObject({ type: 'less_than_equal', loc: ['query', 'limit'] });
  }
});

test('a page beyond all counting is empty', async () => {
  for (const path of await lists()) {
    for (const page of [2 ** 31, Number.MAX_SAFE_INTEGER]) {
      const { status, body } = await service.get(`${path}limit=100&page=${page}`);
      expect([200, 401, 404], path).toContain(status);
      if (status === 200) expect(body.data ?? body, path).toEqual([]);
    }
    const beyond = await service.get(`${path}page=99999999999999999999`);
    expect([401, 404, 422], path).toContain(beyond.status);
  }
});

test('a client that sends a large limit and means all reads them page by page', async () => {
  const { status, body } = await service.get('/sessions?limit=100000');
  expect([status, body.meta]).toMatchObject([200, { limit: 1000, total_pages: 1, total_count: 1 }]);
});
