import { errors } from '../../errors/errors.js';
import type { NodeType, ReviewSettings } from './node.js';

/** Refuses a review that a node of this type cannot have, or that asks for nothing. */
export function checkReview(owner: string, type: NodeType, review: ReviewSettings): void {
  if (review.onReject === 'else' && type !== 'Condition')
    throw errors.invalidConfig(`${owner} has review.onReject 'else', which only a condition can have.`);
  if (review.requiresOutputReview && type !== 'Step')
    throw errors.invalidConfig(`${owner} has review.requiresOutputReview, which only a step can have.`);
  if (review.requiresIterationReview && type !== 'Loop')
    throw errors.invalidConfig(`${owner} has review.requiresIterationReview, which only a loop can have.`);
  if (review.requiresRouteReview && type !== 'Router')
    throw errors.invalidConfig(`${owner} has review.requiresRouteReview, which only a router can have.`);
  checkFields(owner, review);
}

function checkFields(owner: string, { requiresUserInput, userInputSchema = [] }: ReviewSettings): void {
  if (requiresUserInput && userInputSchema.length === 0)
    throw errors.invalidConfig(`${owner} asks for user input without a field in review.userInputSchema.`);
  const names = new Set<string>();
  for (const { name } of userInputSchema) {
    if (names.has(name)) throw errors.invalidConfig(`${owner} asks for the field '${name}' twice.`);
    names.add(name);
  }
}
