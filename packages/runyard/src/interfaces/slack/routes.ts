import { z } from 'zod';
import type { Services } from '../../capabilities/capability.js';
import type { NewDelivery } from '../../capabilities/slack/service.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import type { Log } from '../../core/log.js';
import { parseUntrustedJson } from '../../platform/http/request/json-text.js';
import { type Reply, reply } from '../../platform/http/response/results.js';
import { defineRoute, type Route, type RouteRequest } from '../../platform/http/route.js';
import { deliveryOfEvent, deliveryOfInteraction } from './deliveries.js';
import type { OpenSlack } from './open-slack.js';
import type { SlackConfig } from './options.js';
import { isSigned } from './signature.js';

type OpenOf = (services: Services) => OpenSlack;

const ok = { status: 'ok' };
const bytes = z.instanceof(Uint8Array);
/** Anyone can send requests with wrong signatures: the log names them once in this time. */
const warningMs = 60_000;
const responses = { 200: { description: 'It is stored, and is processed after this response.' } };

/** Where Slack sends events and interactions. Each is stored before it is acknowledged. */
export function slackRoutes(config: SlackConfig, openOf: OpenOf): readonly Route<Services>[] {
  let warnedAt = Number.NEGATIVE_INFINITY;
  const warnOfSignature = (log: Log, path: string) => {
    if (performance.now() - warnedAt < warningMs) return;
    warnedAt = performance.now();
    log.warn(
      { path },
      'A request has no valid signature of Slack. If it came from your app, SLACK_SIGNING_SECRET is not its Signing Secret (Basic Information), or the clock of this machine is wrong.',
    );
  };
  const route = (
    name: 'events' | 'interactions',
    answer: (open: OpenSlack, body: Uint8Array) => Promise<Reply | JsonObject>,
  ): Route<Services> =>
    defineRoute({
      method: 'POST',
      path: `${config.prefix}/${name}`,
      operationId: `slack_${config.prefix.replace(/[^A-Za-z0-9]+/g, '_')}_${name}`.toLowerCase(),
      // who calls is proven by the signature of the body
      public: true,
      tag: 'Slack',
      summary: `receive ${name} (Slack)`,
      accepts: 'bytes',
      body: bytes,
      responses,
      undocumented: true,
      addition: true,
      encodeError: (error) => reply(error.status, { detail: error.message }, error.options.headers),
      handler: async (services: Services, request: RouteRequest<unknown, unknown, Uint8Array>) => {
        const open = openOf(services);
        const { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': signature } = request.headers;
        if (typeof timestamp !== 'string' || typeof signature !== 'string' || !timestamp || !signature)
          return refused(400, 'Missing Slack headers');
        const { signingSecret } = open.secrets;
        if (signingSecret === undefined) return refused(500, 'SLACK_SIGNING_SECRET is not set');
        if (!isSigned(request.body, { timestamp, signature }, signingSecret)) {
          warnOfSignature(open.log, `${config.prefix}/${name}`);
          return refused(403, 'Invalid signature');
        }
        return answer(open, request.body);
      },
    });
  return [route('events', receiveEvent), route('interactions', receiveInteraction)];
}

async function receiveEvent(open: OpenSlack, body: Uint8Array): Promise<Reply | JsonObject> {
  const envelope = jsonIn(Buffer.from(body).toString());
  if (!isJsonObject(envelope)) return refused(400, 'Malformed JSON');
  if (envelope.type === 'url_verification') return { challenge: envelope.challenge ?? '' };
  return stored(open, deliveryOfEvent(open.config, envelope));
}

async function receiveInteraction(open: OpenSlack, body: Uint8Array): Promise<Reply | JsonObject> {
  const text = new URLSearchParams(Buffer.from(body).toString()).get('payload');
  if (text === null || text === '') return refused(400, 'Missing payload');
  const payload = jsonIn(text);
  if (!isJsonObject(payload)) return refused(400, 'Malformed payload JSON');
  return stored(open, deliveryOfInteraction(open.config, payload));
}

async function stored({ slack }: OpenSlack, delivery: NewDelivery | undefined): Promise<Reply | JsonObject> {
  if (delivery === undefined || (await slack.accept(delivery)) !== 'full') return ok;
  // Slack repeats what was not acknowledged
  return reply(
    503,
    { detail: 'Too many deliveries wait here. Send it again later.' },
    { 'retry-after': '60' },
  );
}

function refused(status: number, detail: string): Reply {
  return reply(status, { detail });
}

function jsonIn(text: string): Json | undefined {
  try {
    return parseUntrustedJson(text);
  } catch {
    return undefined;
  }
}
