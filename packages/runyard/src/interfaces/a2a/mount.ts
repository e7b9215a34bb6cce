import { warnOfUnknown } from '../common/unknown-components.js';
import type { Interface } from '../interface.js';
import type { Operations } from './call.js';
import { cardRoutes } from './cards/card-routes.js';
import { Cards } from './cards/cards.js';
import { extendedCard } from './cards/extended-card.js';
import { operations } from './operations.js';
import type { A2aConfig } from './options.js';
import { deliveryRoutes } from './push/delivery-routes.js';
import { a2aRoutes } from './routes.js';

/** The interface at one place. */
export async function a2aInterface(config: A2aConfig): Promise<Interface> {
  const cards = new Cards(config);
  // a key that cannot be used is a fault of the start, and not of the first request
  await cards.key();
  const { push, prefix, named } = config;
  const pushes = push === undefined ? undefined : await import('./push/push-operations.js');
  const all: Operations = {
    ...operations,
    extendedCard: extendedCard(cards),
    ...pushes?.pushOperations,
  };
  return {
    name: `a2a ${prefix}`,
    routes: [...a2aRoutes(config, all), ...cardRoutes(config, cards), ...deliveryRoutes(config)],
    open: async (site) => {
      if (push !== undefined) {
        const { enablePushes } = await import('./push/push-sender.js');
        enablePushes(site.services, cards, prefix, push);
      }
      return {
        listed: { type: 'a2a', version: '1.0', route: prefix },
        start: () => warnOfUnknown(site, 'a2a()', named),
      };
    },
  };
}
