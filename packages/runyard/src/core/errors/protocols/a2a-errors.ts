import { define } from '../runyard-error.js';

/** What only clients of the Agent2Agent protocol receive. `interfaces/a2a/protocol-errors.ts` has the codes of the protocol. */
export const a2aErrors = {
  invalidA2aRequest: define('invalid_a2a_request', 400, (text: string) => text),
  invalidJsonRpc: define('invalid_json_rpc', 400, (text: string) => `Invalid JSON-RPC request: ${text}`),
  unknownA2aMethod: define(
    'unknown_a2a_method',
    404,
    (method: string) =>
      `The method '${method}' is unknown. Methods are SendMessage, GetTask, … of A2A 1.0, and message/send, tasks/get, … of 0.3.`,
  ),
  unknownA2aComponent: define(
    'unknown_a2a_component',
    404,
    (id: string) => `Agent, Team, or Workflow with ID '${id}' not found`,
  ),
  taskNotCancelable: define(
    'task_not_cancelable',
    400,
    (state: string) => `The task cannot be canceled: it is ${state}.`,
  ),
  unsupportedOperation: define('unsupported_operation', 400, (text: string) => text),
  a2aVersionNotSupported: define(
    'a2a_version_not_supported',
    400,
    (version: string) => `A2A version '${version}' is not supported. Supported versions: 1.0, 0.3.`,
  ),
  pushNotificationsOff: define(
    'push_notifications_off',
    400,
    () => 'Push notifications are off here. Poll the task, or subscribe to it.',
  ),
  extendedCardMissing: define('extended_card_missing', 400, () => 'There is no extended card.'),
};
