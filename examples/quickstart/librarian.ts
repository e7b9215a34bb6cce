import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { agent, knowledge } from 'runyard';
import { model } from './model.ts';

const folder = new URL('handbook/', import.meta.url);

/** The pages of a shop. They are indexed when the service starts; a page that has not changed is not indexed again. */
const handbook = knowledge({
  name: 'handbook',
  description: 'How the shop delivers, takes back, repairs, and how to care for what it sells.',
  contents: readdirSync(folder).map((page) => ({
    name: page,
    from: { path: fileURLToPath(new URL(page, folder)) },
  })),
});

/** Searches the handbook before it answers. The run lists what it found under `references`. */
export const librarian = agent({
  id: 'librarian',
  name: 'Librarian',
  model,
  description: 'Answers from the handbook and names its pages: “How long does a lamp take to arrive?”',
  instructions: 'Answer in one or two sentences.',
  knowledge: handbook,
});
