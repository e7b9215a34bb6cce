import type { ElicitResult } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { PausedRun } from '../../common/answers/paused-run.js';
import type { SimpleAnswer } from '../../common/answers/question.js';
import { formOf, type QuestionForm } from '../../common/answers/question-form.js';
import type { ToolRequest } from './mcp-tool.js';

/** How long a person may take for one form. The run waits on, and continue_run answers it later. */
const patienceMs = 10 * 60_000;
/** More questions at once than a person should be shown one after the other. */
const mostForms = 20;
/** Since then a form can offer several labels at once. */
const listsSince = '2025-11-25';

/** Whether the client shows forms to a person. */
export function showsForms({ server }: ToolRequest): boolean {
  const { elicitation } = server.getClientCapabilities() ?? {};
  // without a mode: from before there were several
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/**
 * Asks the person at the client for everything that the run waits for. False: not all of it was answered, or it cannot be
 * asked like this, and the run stays paused. `complaint`: what was wrong with the last answers.
 */
export async function askPerson(request: ToolRequest, run: PausedRun, complaint?: string): Promise<boolean> {
  const lists = (request.server.getNegotiatedProtocolVersion() ?? '') >= listsSince;
  const forms = run.questions.map((question) => formOf(question, lists));
  if (forms.length === 0 || forms.length > mostForms) return false;
  if (!forms.every((form): form is QuestionForm => form !== undefined)) return false;
  const answers: SimpleAnswer[] = [];
  for (const form of forms) {
    const answer = await asked(request, form, complaint);
    if (answer === undefined) return false;
    answers.push(answer);
  }
  for (const [at, answer] of answers.entries()) run.questions[at]?.put(answer);
  return true;
}

/** Who declines says no; who dismisses the form says nothing. */
async function asked(
  request: ToolRequest,
  form: QuestionForm,
  complaint: string | undefined,
): Promise<SimpleAnswer | undefined> {
  const message = complaint === undefined ? form.message : `${complaint}\n\n${form.message}`;
  const result = await sent(request, message, form.schema);
  if (result?.action === 'decline') return { confirmed: false };
  if (result?.action !== 'accept') return undefined;
  return form.answer(contentOf(result));
}

/** Shows a form. Undefined when the client fails to: it may be gone, and the run waits all the same. */
export async function sent(
  { context, call, site }: ToolRequest,
  message: string,
  requestedSchema: QuestionForm['schema'],
): Promise<ElicitResult | undefined> {
  const params = { message, requestedSchema };
  try {
    return await context.mcpReq.send(
      { method: 'elicitation/create', params },
      { timeout: patienceMs, signal: call.cancelled },
    );
  } catch (error) {
    if (!call.cancelled.aborted && !context.mcpReq.signal.aborted)
      site.log.info({ err: error }, 'a client of the MCP server did not answer a form');
    return undefined;
  }
}

export function contentOf({ content }: ElicitResult): JsonObject {
  return isJsonObject(content) ? content : {};
}
