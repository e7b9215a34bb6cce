import { writeFileSync } from 'node:fs';

/** Writes how many tests passed, failed and were skipped. Faults outside of a test count as failed ones. */
export class CountReporter {
  constructor(file) {
    this.file = file;
  }

  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      const before = counts.failed;
      for (const test of module.children.allTests()) counts[countedAs(test.result().state)] += 1;
      if (module.state() === 'failed' && counts.failed === before) counts.failed += 1;
    }
    writeFileSync(this.file, JSON.stringify(counts));
  }
}

function countedAs(state) {
  return state === 'passed' || state === 'failed' ? state : 'skipped';
}
