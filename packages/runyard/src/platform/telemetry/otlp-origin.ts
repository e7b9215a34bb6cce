import { newId } from '../../core/ids.js';
import { version } from '../version.js';
import { keyValues } from './otlp-spans.js';

const instanceId = newId();

/** Where traces and metrics come from: the same for both, so that a collector can join them. */
export function otlpOrigin(serviceName: string): { readonly resource: object; readonly scope: object } {
  const resource = {
    attributes: keyValues({
      'service.name': serviceName,
      'service.instance.id': instanceId,
      'telemetry.sdk.name': 'runyard',
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.version': version,
    }),
  };
  return { resource, scope: { name: 'runyard', version } };
}
