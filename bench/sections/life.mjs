import { databases } from '../lib/servers.mjs';
import { measureCancelling } from './life/cancel.mjs';
import { measurePausedRuns } from './life/paused.mjs';
import { measureQueue } from './life/queue.mjs';
import { measureRestarts, measureTakingOver } from './life/recovery.mjs';
import { measureResuming } from './life/resume.mjs';

/** The life of a run after its start: a table each, with the contents of its two columns. */
export const lifeSections = {
  cancel: { title: 'From cancel to the end', columns: ['Bare', 'Runyard'], measure: measureCancelling },
  resume: { title: 'Events read again', columns: ['Bare', 'Runyard'], measure: measureResuming },
  queue: {
    title: 'More runs than are executed at once',
    columns: ['Bare', 'Runyard'],
    measure: measureQueue,
  },
  recovery: {
    title: 'From kill -9 to the next event',
    columns: ['Start alone, or lease', 'Next event'],
    measure: (setting, place, amounts) =>
      place.database === 'postgres'
        ? measureTakingOver(setting, place, amounts)
        : measureRestarts(setting, place, amounts),
  },
  paused: { title: 'Paused runs', columns: ['Without', 'With'], measure: measurePausedRuns },
};

/** Measures the wanted ones of them on one database. */
export async function measureLives(setting, database, { only, amounts }, say) {
  const place = { database, title: databases[database].title };
  const results = {};
  for (const [name, { title, measure }] of Object.entries(lifeSections)) {
    if (!only.has(name)) continue;
    say(`${place.title}: ${title.toLowerCase()}`);
    results[name] = await measure(setting, place, amounts[name]);
  }
  return results;
}
