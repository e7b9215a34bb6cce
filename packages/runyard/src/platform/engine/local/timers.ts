import type { Timers } from '../../../core/timers.js';

/** Time as the process has it. What repeats keeps no process alive that has nothing else to do. */
export const systemTimers: Timers = {
  now: Date.now,
  elapsed: () => performance.now(),
  soon: (work) => {
    setImmediate(work);
  },
  after: (ms, work) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
  every: (ms, work) => {
    const timer = setInterval(work, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
};
