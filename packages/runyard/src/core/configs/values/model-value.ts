import { isJsonObject, type Json, type JsonObject } from '../../json.js';
import { model as modelKind } from '../../models/model-kind.js';
import { parseModelName, protocolOf } from '../../models/model-name.js';
import { knownProviders } from '../../models/providers.js';
import { describeModel, type ModelDescription, type ModelLike } from '../../models/resolve.js';
import { shown } from '../../options/faults.js';
import { name, objectOf, required } from '../../options/kinds.js';
import { ambiguous } from '../../registry/named-things.js';
import type { ConfigValue } from '../config-keys.js';
import type { Reading } from '../reading.js';

const modelReference = objectOf<Pick<ModelDescription, 'id'> & Partial<ModelDescription>>({
  id: required(name),
  provider: name,
  name,
});

/**
 * A text such as `openai:gpt-5-mini`, or `{ id, provider, name }`: a model object that is registered, else the model of
 * that provider. A text of a known provider means the same as in code.
 */
export const model: ConfigValue = {
  read: (value, at) => {
    if (typeof value === 'string') return modelOfText(value, at);
    if (!isJsonObject(value))
      return at.fault(`is ${shown(value)}. Give ${modelKind.allowed}, or its id and provider.`);
    const given = withoutNulls(value);
    if (at.checked(modelReference, given) === undefined || at.site === undefined) return undefined;
    const { id, provider, name: adapter } = given;
    return modelOf(
      // these are texts: the kind has checked them
      { id: String(id), ...textField('provider', provider), ...textField('name', adapter) },
      at,
    );
  },
  write: (setting, at) => {
    // the settings with this value hold models only
    const given = setting as ModelLike;
    if (typeof given === 'string') return given;
    const { id, provider, name: adapter } = describeModel(given);
    const found = at.registry.findModels({ id, provider, name: adapter });
    if (found.length === 1 && found[0]?.thing === given) return { id, provider, name: adapter };
    return at.fault(
      'is a model object that the registry does not know by an id, provider and name of its own. Register it with new Runyard({ registry: { models } }), or name the model by a text.',
    );
  },
};

function modelOfText(text: string, at: Reading): ModelLike | undefined {
  const named = parseModelName(text);
  const protocol = protocolOf(named, {});
  if (protocol === 'ai-sdk') return packagedModel(text, named.id, at);
  if (protocol !== 'unknown') return at.checked(modelKind, text) === undefined ? undefined : text;
  if (at.site === undefined) return at.checked(name, text) === undefined ? undefined : text;
  const { prefix, id } = named;
  const found = at.site.registry.findModels(prefix === '' ? { id: text } : { id, provider: prefix });
  if (found.length > 1) return at.fault(ambiguous(`the model '${text}'`, found));
  if (found.length === 0) at.checked(modelKind, text);
  return found[0]?.thing;
}

/** The text names a package that is loaded: only code may decide which. */
function packagedModel(text: string, id: string, at: Reading): string | undefined {
  if (at.site?.registry.models.named(id).some(({ thing }) => thing === text)) return text;
  if (at.site === undefined) return undefined;
  return at.fault(
    `is '${text}', a model of a package that the code does not use. Register it with new Runyard({ registry: { models: ['${text}'] } }).`,
  );
}

function modelOf(
  reference: Pick<ModelDescription, 'id'> & Partial<ModelDescription>,
  at: Reading,
): ModelLike | undefined {
  const { id, provider = '' } = reference;
  const found = at.site?.registry.findModels(reference) ?? [];
  if (found.length > 1) return at.fault(ambiguous(`the model '${id}'`, found));
  if (found[0] !== undefined) return found[0].thing;
  if (id === 'offline' && ['', 'Runyard'].includes(provider)) return id;
  const prefix = Object.keys(knownProviders).find(
    (one) => one === provider.toLowerCase() || knownProviders[one]?.provider === provider,
  );
  if (prefix !== undefined) return `${prefix}:${id}`;
  return at.fault(
    `names the model '${id}'${provider === '' ? '' : ` of '${provider}'`}, which is not registered, and ${provider === '' ? 'no provider' : 'an unknown provider'}. Register it with new Runyard({ registry: { models } }).`,
  );
}

function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null));
}

function textField<Name extends string>(field: Name, value: Json | undefined): Partial<Record<Name, string>> {
  // an object with this one field, or none
  return (typeof value === 'string' ? { [field]: value } : {}) as Partial<Record<Name, string>>;
}
