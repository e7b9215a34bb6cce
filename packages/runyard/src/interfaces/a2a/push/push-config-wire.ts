import type { NewPushConfig, PushConfig } from '../../../capabilities/push-notifications/service.js';
import type { Json, JsonObject } from '../../../core/json.js';
import type { Dialect } from '../dialects/dialect.js';
import { invalid, objectIn, requiredTextIn, textIn } from '../dialects/read-params.js';
import { v03Rest } from '../dialects/v03.js';
import { wireObject } from '../dialects/wire.js';

/** How HTTP+JSON of protocol 0.3 names a config. */
const resourceName = /^tasks\/([^/]+)\/pushNotificationConfigs\/([^/]*)$/;

/** The task and the config that a request names. Protocol 0.3 calls the task `id`, and may leave out the config. */
export interface NamedPushConfig {
  readonly taskId: string;
  readonly configId: string | undefined;
}

export function readName(params: JsonObject): NamedPushConfig {
  const [, taskId, configId] = resourceName.exec(textIn(params, 'name') ?? '') ?? [];
  const given = textIn(params, 'taskId') ?? taskId;
  const chosen = textIn(params, 'pushNotificationConfigId') ?? (configId || undefined);
  if (given !== undefined) return { taskId: given, configId: chosen ?? textIn(params, 'id') };
  return { taskId: requiredTextIn(params, 'id', 'taskId'), configId: chosen };
}

/** The task of a new config, whose own id may be given as well. */
export function readTaskId(params: JsonObject): string {
  const [, named] = resourceName.exec(textIn(params, 'name') ?? '') ?? [];
  return named ?? requiredTextIn(params, 'taskId');
}

/** A config of any version: 0.3 puts it into a member of its own, unless it comes with a message. */
export function readConfig(params: JsonObject): NewPushConfig {
  const own = objectIn(params, 'pushNotificationConfig') ?? objectIn(params, 'config') ?? params;
  const inner = objectIn(own, 'pushNotificationConfig') ?? own;
  const authentication = objectIn(inner, 'authentication');
  return {
    id: textIn(inner, 'id') ?? textIn(params, 'configId'),
    url: requiredTextIn(inner, 'url'),
    token: textIn(inner, 'token'),
    authentication: authentication && readAuthentication(authentication),
  };
}

function readAuthentication(given: JsonObject): NewPushConfig['authentication'] {
  const { schemes } = given;
  if (schemes !== undefined && schemes !== null && !Array.isArray(schemes))
    throw invalid('authentication.schemes must be a list');
  const [first] = Array.isArray(schemes) ? schemes : [];
  const scheme = textIn(given, 'scheme', 'authentication.scheme') ?? first;
  const credentials = textIn(given, 'credentials', 'authentication.credentials');
  if (typeof scheme !== 'string' || scheme === '')
    throw invalid('authentication.scheme is required, such as Bearer');
  return { scheme, credentials };
}

/** A config as it is answered with: without the token and the credentials. */
export function configBody(config: PushConfig, dialect: Dialect): JsonObject {
  const { runId, configId, url, scheme } = config;
  if (dialect.version === '1.0')
    return wireObject({
      taskId: runId,
      id: configId,
      url,
      authentication: scheme === null ? undefined : { scheme },
    });
  const own = wireObject({
    id: configId,
    url,
    authentication: scheme === null ? undefined : { schemes: [scheme] },
  });
  return dialect === v03Rest
    ? { name: `tasks/${runId}/pushNotificationConfigs/${configId}`, pushNotificationConfig: own }
    : { taskId: runId, pushNotificationConfig: own };
}

/** JSON-RPC of 0.3 answers with a plain list. */
export function listBody(configs: readonly PushConfig[], dialect: Dialect): Json {
  const bodies = configs.map((config) => configBody(config, dialect));
  return dialect.version === '1.0' || dialect === v03Rest ? { configs: bodies } : bodies;
}

/** What `delete` answers with. */
export function deletedBody(dialect: Dialect): Json {
  return dialect.version === '1.0' || dialect === v03Rest ? {} : null;
}
