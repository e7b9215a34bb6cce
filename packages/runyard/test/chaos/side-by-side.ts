import { expect } from 'vitest';

/** What happens while no process is running. */
type Meanwhile = (() => void | Promise<void>) | undefined;

/** What is played in one process after the other: at each `yield` the process is killed. */
export type Scenario = () => AsyncGenerator<Meanwhile, void, void>;

export interface Killable {
  kill(): Promise<unknown>;
  start(): Promise<unknown>;
}

/**
 * Plays scenarios in the same processes: the next kill comes when each of them has reached its next `yield` or its end.
 * To start a service is most of what such a test costs, and one kill is enough for all of them.
 */
export async function playSideBySide(
  service: Killable,
  scenarios: Readonly<Record<string, Scenario>>,
): Promise<void> {
  const failures: string[] = [];
  let playing = Object.entries(scenarios).map(([name, scenario]) => ({ name, parts: scenario() }));
  await service.start();
  for (;;) {
    const meanwhile: Meanwhile[] = [];
    const ended = new Set<object>();
    await Promise.all(
      playing.map(async (one) => {
        try {
          const { done, value } = await one.parts.next();
          if (done) ended.add(one);
          else meanwhile.push(value);
        } catch (error) {
          ended.add(one);
          failures.push(`${one.name}: ${error instanceof Error ? error.stack : error}`);
        }
      }),
    );
    playing = playing.filter((one) => !ended.has(one));
    if (playing.length === 0) break;
    await service.kill();
    await Promise.all(meanwhile.map((work) => work?.()));
    await service.start();
  }
  expect(failures.join('\n\n')).toBe('');
}
