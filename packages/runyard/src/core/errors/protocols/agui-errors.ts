import { define } from '../runyard-error.js';

/** What only clients of the Agent-User Interaction protocol receive. */
export const aguiErrors = {
  invalidAguiInput: define('invalid_agui_input', 400, (text: string) => text),
};
