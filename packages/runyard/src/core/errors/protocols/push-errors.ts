import { define } from '../runyard-error.js';

/** Errors of push notifications. None of them repeats an address or a secret that a client registered. */
export const pushErrors = {
  pushConfigNotFound: define('push_config_not_found', 404, () => 'Push notification config not found'),
  /** `reason` says which field, and what is wrong. */
  pushConfigInvalid: define('push_config_invalid', 422, (reason: string) => reason),
  tooManyPushConfigs: define(
    'too_many_push_configs',
    409,
    (most: number) =>
      `A task has at most ${most} push notification configs. Delete one first, or replace one by its id.`,
  ),
} as const;
