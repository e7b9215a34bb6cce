import { contains, evaluate, reliability } from 'runyard/evals';
import { dispatcher } from './support.ts';

/** `npx runyard eval` executes these. Their runs are kept in memory: no application registers the agent here. */
export const looksUp = reliability({
  name: 'Looks an order up by its number',
  agent: dispatcher,
  input: 'Where is order 1001?',
  expectedToolCalls: ['order_status'],
  expectedArguments: { order_status: { number: 1001 } },
});

export const answers = evaluate({
  name: 'Says where an order is',
  agent: dispatcher,
  cases: [
    { id: 'shipped', input: 'Where is order 1001?', expectedOutput: 'shipped' },
    { id: 'delivered', input: 'Where is order 1002?', expectedOutput: 'delivered' },
    { id: 'unknown', input: 'Where is order 7?', expectedOutput: 'no order 7' },
  ],
  scorers: [contains()],
});
