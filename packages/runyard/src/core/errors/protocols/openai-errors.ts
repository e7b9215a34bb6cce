import { RunyardError } from '../runyard-error.js';

/** What only clients of the OpenAI API receive. `interfaces/openai/protocol-errors.ts` has the form of the protocol. */
export const openaiErrors = {
  /** `param`: the parameter that is wrong, as the client names it. */
  openaiRequest: (text: string, param?: string, code = 'invalid_value') =>
    new RunyardError(code, 400, text, param === undefined ? {} : { fields: { param } }),
  /** The text is that of OpenAI. `ids`: models that the caller may use. */
  modelNotFound: (name: string, ids: readonly string[] = []) =>
    new RunyardError(
      'model_not_found',
      404,
      `The model '${name}' does not exist or you do not have access to it.${ids.length > 0 ? ` Models here: ${ids.join(', ')}` : ''}`,
      { fields: { param: 'model' } },
    ),
  endpointNotOffered: (path: string) =>
    new RunyardError(
      'endpoint_not_offered',
      404,
      `${path} is not offered here. Agents, teams and workflows answer chat completions and responses.`,
    ),
  completionNotFound: (id: string) =>
    new RunyardError('completion_not_found', 404, `There is no chat completion '${id}'.`),
  ambiguousModel: (name: string, names: readonly string[]) =>
    new RunyardError(
      'ambiguous_model',
      400,
      `Several components have the id '${name}'. Name one of these models: ${names.join(', ')}.`,
      { fields: { param: 'model' } },
    ),
};
