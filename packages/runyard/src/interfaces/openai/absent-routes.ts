import { errors } from '../../core/errors/errors.js';
import type { OpenaiRoute } from './routes.js';

/** What clients of OpenAI may look for and no component can do. */
const absent = [
  '/completions',
  '/embeddings',
  '/images/generations',
  '/moderations',
  '/audio/speech',
  '/responses/input_tokens',
  '/responses/compact',
];

/** Their answers say so in the form of the protocol: a client shows nothing of another 404. */
export const absentRoutes: readonly OpenaiRoute[] = absent.map((path) => ({
  method: 'POST',
  path,
  summary: 'Not offered (OpenAI)',
  action: 'run',
  answer: ({ config }) => {
    throw errors.endpointNotOffered(`${config.prefix}${path}`);
  },
}));
