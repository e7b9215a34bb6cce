import { schemaData } from '../../../../core/json.js';
import { checkOptions } from '../../../../core/options/check-options.js';
import { type AskPerson, toolQuestion } from '../../../../core/tools/questions/tool-question.js';
import { inputForm } from '../../../common/answers/question-form.js';
import { contentOf, sent, showsForms } from '../elicit.js';
import type { ToolRequest } from '../mcp-tool.js';

/** Asks the person at the client, while the tool waits. */
export function personAtClient(request: ToolRequest): AskPerson {
  return async (question) => {
    checkOptions('ask()', question, toolQuestion);
    if (!showsForms(request)) throw new Error('The client cannot ask a person: it has no elicitation.');
    const form = inputForm(
      (question.fields ?? []).map(({ name, type, description, optional, schema }) => ({
        name,
        type,
        description: description ?? undefined,
        required: optional !== true,
        value: null,
        schema: schema && schemaData(schema),
        allowed: undefined,
      })),
    );
    if (form === undefined) throw new Error('A form of MCP has no place for lists and objects.');
    const result = await sent(request, question.message, form.schema);
    if (result?.action === 'decline') return { action: 'decline' };
    if (result?.action !== 'accept') return { action: 'cancel' };
    return { action: 'accept', values: form.answer(contentOf(result))?.values ?? {} };
  };
}
