import type { JsonObject } from '../../../core/json.js';
import type { RunKind } from '../../../core/runs/run.js';
import type { CardSubject, Skill } from './card-subject.js';

/** What a card says about the interface that serves the component. */
export interface CardSite {
  /** Where the interface is for the client: `https://agents.example.com/a2a`. */
  readonly address: string;
  /** Whether clients need a token. */
  readonly authorized: boolean;
  readonly pushNotifications: boolean;
}

/** Where the operations of a component are. */
function componentAddress(address: string, kind: RunKind, id: string): string {
  return `${address}/${kind}s/${encodeURIComponent(id)}`;
}

const bearer = 'A JWT or the token of a service account.';

/** The card of protocol 1.0. It has no member that a verifier of its signature would not see. */
export function cardV1(subject: CardSubject, site: CardSite): JsonObject {
  const { name, description, version, skills } = subject;
  return {
    name,
    description: description || name,
    version,
    supportedInterfaces: interfacesOf(subject, site),
    capabilities: {
      streaming: true,
      pushNotifications: site.pushNotifications,
      extendedAgentCard: true,
    },
    defaultInputModes: ['text/plain', 'application/json', 'image/*', 'audio/*', 'video/*', 'application/*'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: skills.map(skillV1),
    ...(site.authorized && {
      securitySchemes: {
        bearer: { httpAuthSecurityScheme: { description: bearer, scheme: 'Bearer', bearerFormat: 'JWT' } },
      },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    }),
  };
}

/** The card of protocol 0.3 as the reference writes it, with the interfaces of 1.0: a client of either finds its own. */
export function cardV03(subject: CardSubject, site: CardSite): JsonObject {
  const { kind, id, name, description, version, skills } = subject;
  const base = componentAddress(site.address, kind, id);
  const url = `${base}/v1/message:stream`;
  return {
    name,
    description,
    version,
    protocolVersion: '0.3.0',
    preferredTransport: 'JSONRPC',
    url,
    additionalInterfaces: [
      { url, transport: 'JSONRPC' },
      { url: base, transport: 'HTTP+JSON' },
    ],
    supportedInterfaces: interfacesOf(subject, site),
    defaultInputModes: ['text'],
    defaultOutputModes: ['text'],
    capabilities: {
      streaming: true,
      pushNotifications: site.pushNotifications,
      stateTransitionHistory: false,
      extensions: null,
    },
    skills: skills.map(skillV03),
    supportsAuthenticatedExtendedCard: true,
    ...(site.authorized
      ? {
          securitySchemes: {
            bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: bearer },
          },
          security: [{ bearer: [] }],
        }
      : { securitySchemes: null, security: null }),
    documentationUrl: null,
    iconUrl: null,
    provider: null,
    signatures: null,
  };
}

function interfacesOf({ kind, id }: CardSubject, { address }: CardSite): JsonObject[] {
  const url = componentAddress(address, kind, id);
  return [
    { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
  ];
}

function skillV1({ id, name, description, tags }: Skill): JsonObject {
  return { id, name, description, tags: [...tags] };
}

function skillV03(skill: Skill): JsonObject {
  return {
    ...skillV1(skill),
    examples: null,
    inputModes: null,
    outputModes: ['application/json'],
    security: null,
  };
}
