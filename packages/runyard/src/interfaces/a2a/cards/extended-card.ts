import { assertMay } from '../../../platform/auth/authenticator.js';
import type { Operation } from '../call.js';
import type { Cards } from './cards.js';

/** The card with the tools, members and steps of a component, for those who may read it. */
export function extendedCard(cards: Cards): Operation {
  return async ({ services, target, caller, calledAddress, dialect: { version } }) => {
    const { kind, componentId } = target;
    assertMay(caller, { scope: `${kind}s:read`, params: { [`${kind}_id`]: componentId } });
    const { card } = await cards.make(services, { target, caller, calledAddress, version, extended: true });
    return { result: card };
  };
}
