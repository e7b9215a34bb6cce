import { isJsonObject, type Json } from '../../json.js';
import type { OutputFormat } from '../../models/model.js';
import { type AgentExecution, addExtra, type StageWork } from '../execution.js';
import { askForJson } from './ask-for-json.js';
import { plainMessage } from './auxiliary-step.js';
import { shortened } from './bounded-text.js';
import { stageModel } from './stage-model.js';

const defaultCount = 3;
const longestText = 8_000;
const longestSuggestion = 300;

const format: OutputFormat = {
  name: 'Followups',
  strict: true,
  schema: {
    type: 'object',
    properties: {
      followups: {
        type: 'array',
        items: { type: 'string' },
        description: 'What the user may want to ask or say next, each as the user would write it',
      },
    },
    required: ['followups'],
    additionalProperties: false,
  },
};

/** Adds suggestions of what to ask next to what the run has to show. */
export function suggestFollowups(execution: AgentExecution, answer: string): StageWork {
  return execution.agent.settings.followups ? suggest(execution, answer) : undefined;
}

async function suggest(execution: AgentExecution, answer: string): Promise<void> {
  const { agent, context, input } = execution;
  const { numFollowups = defaultCount, followupModel } = agent.settings;
  context.emit({ event: 'FollowupsStarted' }, 'followups:started');
  const given = await askForJson(context, {
    key: 'followups',
    role: 'followup_model',
    model: stageModel(execution, followupModel),
    system: `You read what a user asked and what was answered. Suggest ${numFollowups} short and different messages that the user may want to send next, in the language of the user. None of them repeats what is answered already.`,
    messages: [
      plainMessage(
        'user',
        `<asked>\n${shortened(input.content, longestText)}\n</asked>\n<answered>\n${shortened(answer, longestText)}\n</answered>`,
      ),
    ],
    output: format,
  });
  const suggestions = suggestionsIn(given?.value).slice(0, numFollowups);
  if (suggestions.length > 0) addExtra(execution, 'followups', suggestions);
  context.emit({ event: 'FollowupsCompleted', followups: suggestions }, 'followups:completed');
}

/** A model that is only asked in words may leave the object around the list away. */
function suggestionsIn(value: Json | undefined): string[] {
  const list = isJsonObject(value) ? value.followups : value;
  if (!Array.isArray(list)) return [];
  const texts = list.filter((text) => typeof text === 'string').map((text) => text.trim());
  return [...new Set(texts)].filter((text) => text !== '' && text.length <= longestSuggestion);
}
