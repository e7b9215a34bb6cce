import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('a start makes next to none of the schemas of the routes', () => {
  const capabilities = new URL('../../dist/capabilities/capabilities.js', import.meta.url).href;
  const program = `
    import { z } from 'zod';
    let made = 0;
    z.config({ postProcessor() { made += 1; } });
    await import('${capabilities}');
    const atStart = made;
    z.string();
    console.log(made === atStart + 1 ? atStart : 'nothing is counted');
  `;
  const cwd = new URL('.', import.meta.url);
  const made = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { cwd });
  expect(Number(made), 'see lazySchema').toBeLessThan(30);
});
