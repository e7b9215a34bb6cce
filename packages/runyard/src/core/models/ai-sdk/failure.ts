import { driverFaultOf } from '../../errors/driver-fault.js';
import { errorCode } from '../../errors/error-code.js';
import type { Json } from '../../json.js';
import { fieldsOf } from '../../objects.js';
import { ModelError } from '../model-error.js';
import { certificateFaultIn } from '../provider/call/certificate-fault.js';
import { errorFromResponse, errorFromStream } from '../provider/call/provider-failure.js';
import { redactor } from '../provider/call/redact.js';

/** The key is the SDK's own affair: only what looks like one can be taken out. */
const redact = redactor([]);

/** What a model of the AI SDK threw, or put into its stream, as an error of ours. */
export function modelErrorOf(provider: string, error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  if (!(error instanceof Error)) {
    // thrown, or parsed from the provider's stream: it is only written into the message
    return errorFromStream(provider, (error as Json | undefined) ?? 'no explanation', redact);
  }
  // the parts of the AI SDK's `APICallError` that say what happened
  const { statusCode, responseHeaders, responseBody, isRetryable } = fieldsOf(error);
  if (typeof statusCode === 'number' && (statusCode < 200 || statusCode > 299)) {
    const headers = new Headers(
      Object.entries(Object(responseHeaders)).map(([name, value]) => [name, String(value)]),
    );
    const body =
      typeof responseBody === 'string' && responseBody !== ''
        ? responseBody
        : JSON.stringify({ message: error.message });
    return errorFromResponse(provider, { status: statusCode, statusText: '', headers }, body, redact);
  }
  const cause = error.cause instanceof Error ? error.cause : error;
  const code = errorCode(cause);
  const certificateFault = certificateFaultIn(code);
  const broken = isRetryable === true || typeof code === 'string';
  if (/LoadAPIKeyError|LoadSettingError|NoSuchModel|UnsupportedFunctionality/.test(error.name)) {
    return new ModelError(redact(error.message), { provider, kind: 'configuration' });
  }
  // where a provider is inside a network is for the log
  const reason =
    certificateFault ?? (driverFaultOf(cause) ?? driverFaultOf(error))?.code ?? redact(error.message);
  return broken
    ? new ModelError(`The connection to ${provider} failed: ${reason}`, {
        provider,
        kind: 'connection',
        retryable: certificateFault === undefined,
        cause: error,
      })
    : new ModelError(`${provider} failed: ${redact(error.message)}`, { provider, kind: 'protocol' });
}
