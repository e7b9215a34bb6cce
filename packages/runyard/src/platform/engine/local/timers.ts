import type { Timers } from '../../../core/timers.js';

/** What a timer of Node can wait, almost 25 days. Given more, it would fire at once. */
const longestMs = 2 ** 31 - 1;

/** Time as the process has it. What repeats keeps no process alive that has nothing else to do. */
export const systemTimers: Timers = {
  now: Date.now,
  elapsed: () => performance.now(),
  soon: (work) => {
    setImmediate(work);
  },
  after: (ms, work) => {
    let timer: NodeJS.Timeout;
    const wait = (left: number): void => {
      timer = left > longestMs ? setTimeout(() => wait(left - longestMs), longestMs) : setTimeout(work, left);
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
  every: (ms, work) => {
    const timer = setInterval(work, Math.min(ms, longestMs));
    timer.unref();
    return () => clearInterval(timer);
  },
};
