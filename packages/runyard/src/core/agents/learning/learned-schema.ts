import type { JsonObject } from '../../json.js';
import type { OutputFormat } from '../../models/model.js';
import { type LearningKind, learningKinds } from './learning-settings.js';

const text = (description: string): JsonObject => ({ type: 'string', description });
const list = (items: JsonObject, description: string): JsonObject => ({ type: 'array', items, description });
const object = (properties: Record<string, JsonObject>, description?: string): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...(description !== undefined && { description }),
});

/** What each kind is called in the answer of a model and in the arguments of a tool. */
export const sectionOf = {
  userProfile: 'user_profile',
  userMemory: 'user_memories',
  sessionContext: 'session_context',
  entityMemory: 'entities',
  decisions: 'decisions',
} as const satisfies Record<LearningKind, string>;

const sections: Readonly<Record<LearningKind, JsonObject>> = {
  userProfile: list(
    object({
      field: text('The name of the fact, such as name, language, occupation, time_zone'),
      value: text('The fact; empty when it is no longer true or the user wants it forgotten'),
    }),
    'Facts about the user that are new or have changed',
  ),
  userMemory: list(
    object({
      id: text('The id of a known memory to replace; empty for a new one'),
      memory: text('One sentence about the user; empty to forget the known one'),
    }),
    'What else is worth remembering about the user in later conversations',
  ),
  sessionContext: object(
    {
      summary: text('What was talked about so far, in a few sentences'),
      goal: text('What the user is after'),
      plan: list(text('A step'), 'The steps that lead there, if there are any'),
      progress: list(text('A step'), 'What of it is done'),
    },
    'Where this conversation stands now, as a whole. What is empty stays as it was',
  ),
  entityMemory: list(
    object({
      entity_type: text('What it is, in one word: person, company, project, product, place …'),
      name: text('What it is called; the name of a known one for the same thing'),
      facts: list(text('One sentence'), 'What is true of it'),
      events: list(text('One sentence, with its date if it is known'), 'What happened to it'),
      relations: list(
        object({ relation: text('As in: works at'), to: text('The name of the other') }),
        'How it stands to others',
      ),
    }),
    'What is new about people, companies, projects and other things that are not the user',
  ),
  decisions: list(
    object({ decision: text('What was decided'), reasoning: text('Why, and against what') }),
    'Decisions that were made and that later work may rely on',
  ),
};

/** What the model that looks at a run is asked for. */
export function learnedFormat(kinds: ReadonlySet<LearningKind>): OutputFormat {
  return { name: 'Learned', strict: true, schema: object(sectionsOf(kinds)) };
}

/** The arguments of the tool with which an agent keeps something: any of the sections. */
export function learnedParameters(kinds: ReadonlySet<LearningKind>): JsonObject {
  return { type: 'object', properties: sectionsOf(kinds), additionalProperties: false };
}

function sectionsOf(kinds: ReadonlySet<LearningKind>): Record<string, JsonObject> {
  const wanted = learningKinds.filter((kind) => kinds.has(kind));
  return Object.fromEntries(wanted.map((kind) => [sectionOf[kind], sections[kind]]));
}
