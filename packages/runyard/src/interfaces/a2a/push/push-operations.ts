import type { PushOrigin } from '../../../capabilities/push-notifications/service.js';
import { errorCode } from '../../../core/errors/error-code.js';
import { errors } from '../../../core/errors/errors.js';
import { type A2aCall, assertMayRead, assertMayRun, type Operations } from '../call.js';
import { mountAddress } from '../cards/cards.js';
import { v03Rest } from '../dialects/v03.js';
import type { TaskPlace } from '../task.js';
import { configBody, deletedBody, listBody, readConfig, readName, readTaskId } from './push-config-wire.js';

/** What clients do with push notification configs. A task that the caller does not see does not exist. */
export const pushOperations: Operations = {
  attach(call, config) {
    const given = readConfig(config);
    pushesOf(call).check(call.config.prefix, given);
    return async (task) => void (await pushesOf(call).set(call.caller, task, given, originOf(call)));
  },
  async 'push.create'(call, params) {
    assertMayRun(call);
    const taskId = readTaskId(params);
    const config = readConfig(params);
    const stored = await pushesOf(call).set(call.caller, placeOf(call, taskId), config, originOf(call));
    return { result: configBody(stored, call.dialect) };
  },
  async 'push.get'(call, params) {
    assertMayRead(call);
    const { taskId, configId } = readName(params);
    const place = placeOf(call, taskId);
    const pushes = pushesOf(call);
    const { prefix } = call.config;
    const found =
      configId === undefined
        ? (await pushes.list(call.caller, place, prefix))[0]
        : await pushes.get(call.caller, place, prefix, configId);
    if (found === undefined) throw errors.pushConfigNotFound();
    return { result: configBody(found, call.dialect) };
  },
  async 'push.list'(call, params) {
    assertMayRead(call);
    const { taskId } = readName(params);
    const configs = await pushesOf(call).list(call.caller, placeOf(call, taskId), call.config.prefix);
    return { result: listBody(configs, call.dialect) };
  },
  async 'push.delete'(call, params) {
    assertMayRun(call);
    const { taskId, configId } = readName(params);
    if (configId === undefined) throw errors.pushConfigNotFound();
    try {
      await pushesOf(call).remove(call.caller, placeOf(call, taskId), call.config.prefix, configId);
    } catch (error) {
      // what was deleted before is deleted
      if (errorCode(error) !== 'push_config_not_found') throw error;
    }
    return { result: deletedBody(call.dialect) };
  },
};

function pushesOf({ services }: A2aCall) {
  return services.pushNotifications;
}

function placeOf({ target }: A2aCall, runId: string): TaskPlace {
  return { ...target, runId };
}

/** Who notifies, as the client knows them: a notification is signed in this name. */
function originOf({ config, calledAddress, dialect }: A2aCall): PushOrigin {
  return {
    mount: config.prefix,
    dialect: dialect === v03Rest ? '0.3-rest' : dialect.version,
    issuer: mountAddress(config, calledAddress),
  };
}
