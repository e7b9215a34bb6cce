import { agent, Runyard } from 'runyard';
import { add, currentTime, remember } from './tools.ts';

// With a key in the environment a real model answers; without one, the built-in stand-in that needs no network.
const model = process.env.OPENAI_API_KEY ? 'openai:gpt-5-mini' : 'offline';

/** Calls tools, sees the earlier runs of its session, and keeps facts in the session's state. */
const assistant = agent({
  id: 'assistant',
  name: 'Assistant',
  model,
  description: 'Answers questions, adds numbers, tells the time and remembers facts.',
  instructions: [
    'Be brief and friendly.',
    'Use the tools for sums, for the time and to remember what you are told to remember.',
    'Facts remembered so far: {facts}',
  ],
  tools: [add, currentTime, remember],
  sessionState: { facts: [] },
  addHistoryToContext: true,
  numHistoryRuns: 5,
});

/** Give its runs an `output_schema`, and the answer has that shape. */
const extractor = agent({
  id: 'extractor',
  name: 'Extractor',
  model,
  description: 'Turns a text into structured data; send the shape as output_schema.',
  instructions: 'Extract what the text says about each field. Do not invent anything.',
});

/** Its instructions have gaps that `dependencies` fill: defaults here, other values with a run. */
const greeter = agent({
  id: 'greeter',
  name: 'Greeter',
  model,
  description: 'Greets a customer by name, in the tone that the run asks for.',
  instructions: 'Greet {customer} of the {plan} plan in a {tone} tone, in one sentence.',
  dependencies: { customer: 'Ada', plan: 'free', tone: 'warm' },
});

export const app = new Runyard({
  name: 'Quickstart',
  description: 'Three example agents that need no key, no database server and no network.',
  agents: [assistant, extractor, greeter],
});
