import type { JsonObject } from '../../json.js';
import type { Executable } from '../../runs/executable.js';
import { jsonSchemaOf } from '../../schemas/value-schema.js';
import { Expression } from './cel.js';
import { nodesOf, type ReviewSettings, type WorkflowNode } from './node.js';

/** How the component of a step is described: the body of an agent or a team. */
export type DescribeComponent = (component: Executable) => JsonObject | Promise<JsonObject>;

/**
 * The tree of a workflow as the wire shows it, with what the older interface leaves out: limits, conditions and what
 * waits for a person.
 */
export async function workflowTree(
  nodes: readonly WorkflowNode[],
  describe: DescribeComponent,
): Promise<JsonObject[]> {
  return Promise.all(nodes.map((node) => nodeBody(node, describe)));
}

async function nodeBody(node: WorkflowNode, describe: DescribeComponent): Promise<JsonObject> {
  const { name, description, review } = node;
  return {
    name,
    ...(description !== undefined && { description }),
    ...(await typeFields(node, describe)),
    ...(review !== undefined && { review: reviewBody(review) }),
  };
}

async function typeFields(node: WorkflowNode, describe: DescribeComponent): Promise<JsonObject> {
  if (node.type === 'Step') return stepFields(node, describe);
  const steps = await workflowTree(node.steps, describe);
  switch (node.type) {
    case 'Loop':
      return {
        type: node.type,
        steps,
        max_iterations: node.maxIterations,
        forward_output: node.forwardOutput,
        ...(node.until !== undefined && { end_condition: decisionText(node.until) }),
      };
    case 'Condition':
      return {
        type: node.type,
        steps,
        ...(node.otherwise.length > 0 && { else_steps: await workflowTree(node.otherwise, describe) }),
        condition: typeof node.when === 'boolean' ? node.when : decisionText(node.when),
      };
    case 'Router':
      return {
        type: node.type,
        steps,
        selector: node.select === 'user' ? 'user' : decisionText(node.select),
        ...(node.allowMultiple && { allow_multiple_selections: true }),
      };
    default:
      return {
        type: node.type,
        steps,
        ...(node.type === 'Parallel' && node.maxParallel !== undefined && { max_parallel: node.maxParallel }),
        ...(node.type === 'Foreach' && { concurrency: node.concurrency }),
      };
  }
}

async function stepFields(
  node: Extract<WorkflowNode, { type: 'Step' }>,
  describe: DescribeComponent,
): Promise<JsonObject> {
  const { maxRetries, skipOnFailure, onError, timeoutMs, inputSchema, outputSchema } = node;
  const limits = {
    max_retries: maxRetries,
    on_error: skipOnFailure ? 'skip' : onError,
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(inputSchema !== undefined && { input_schema: jsonSchemaOf(inputSchema) }),
    ...(outputSchema !== undefined && { output_schema: jsonSchemaOf(outputSchema) }),
  };
  if (!('component' in node.run)) return { type: 'Step', ...limits };
  const { component } = node.run;
  const inner = nodesOf(component);
  if (inner !== undefined)
    return {
      type: 'Workflow',
      workflow_id: component.id,
      steps: await workflowTree(inner, describe),
      ...limits,
    };
  return { type: 'Step', [component.kind]: await describe(component), ...limits };
}

/** A CEL text can be shown; of a function only what it is called. */
function decisionText(decision: Expression | ((...args: never[]) => unknown)): string {
  return decision instanceof Expression ? decision.text : decision.name || 'function';
}

function reviewBody(review: ReviewSettings): JsonObject {
  const fields = {
    requires_confirmation: review.requiresConfirmation,
    confirmation_message: review.confirmationMessage,
    requires_user_input: review.requiresUserInput ?? (review.userInputSchema !== undefined || undefined),
    user_input_message: review.userInputMessage,
    requires_output_review:
      typeof review.requiresOutputReview === 'function'
        ? decisionText(review.requiresOutputReview)
        : review.requiresOutputReview,
    output_review_message: review.outputReviewMessage,
    requires_iteration_review: review.requiresIterationReview,
    requires_route_review: review.requiresRouteReview,
    on_reject: review.onReject,
    max_retries: review.maxRetries,
    timeout_ms: review.timeoutMs,
    on_timeout: review.onTimeout,
  };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
