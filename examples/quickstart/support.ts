import { agent, team, tool } from 'runyard';
import { z } from 'zod';
import { model } from './model.ts';
import { refund } from './tools.ts';

/** Replaces a database of orders. */
export const orders = new Map([
  [1001, { item: 'a lamp', status: 'shipped', days: 2 }],
  [1002, { item: 'a chair', status: 'delivered', days: 9 }],
]);

const orderStatus = tool({
  name: 'order_status',
  description: 'Tells where an order is, by its number.',
  inputSchema: z.object({ number: z.number().int().describe('The number of the order') }),
  readOnly: true,
  execute: ({ number }) => orders.get(number) ?? `There is no order ${number}`,
});

export const dispatcher = agent({
  id: 'dispatcher',
  name: 'Dispatcher',
  model,
  role: 'Knows where an order, parcel or delivery is',
  instructions: 'Look the order up and say in one sentence where it is.',
  tools: [orderStatus],
});

/** Its tool needs a confirmation: its runs pause, and resume when they are continued with an answer. */
export const cashier = agent({
  id: 'cashier',
  name: 'Cashier',
  model,
  description: 'Refunds money, and waits for a confirmation before it does.',
  instructions: 'Refund what the customer asks for. Then say in one sentence what was done.',
  tools: [refund],
});

/** The leader routes each customer to the right member. The whole team waits while the cashier waits for a yes. */
export const supportDesk = team({
  id: 'support-desk',
  name: 'Support desk',
  model,
  description: 'Brings a customer to the one who can help: with an order, or with a refund.',
  mode: 'route',
  members: [dispatcher, cashier],
});
