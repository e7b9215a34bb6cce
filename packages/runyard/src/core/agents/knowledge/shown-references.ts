import type { PieceEvent } from '../../events/run-event.js';
import type { AgentExecution } from '../execution.js';
import { referencesOf } from './references.js';

/** The first event of an answer: after a search, with all that was found so far. */
export function withNewReferences(
  { context, soFar }: Pick<AgentExecution, 'context' | 'soFar'>,
  event: PieceEvent,
): PieceEvent {
  if (event.event !== 'RunContent' || !soFar.hasSearched) return event;
  soFar.hasSearched = false;
  const searches = [...context.steps('knowledge'), ...context.steps('tool')];
  const references = referencesOf(searches.sort((left, right) => left.seq - right.seq));
  return references.length === 0 ? event : { ...event, references };
}
