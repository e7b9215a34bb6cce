import { errors } from '../../core/errors/errors.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.js';
import type { ContentSource, SourceParameters } from '../../core/knowledge/sources/source.js';
import { JsonFault, parseUntrustedJson } from '../../platform/http/request/json-text.js';
import { metadataFault } from './contents/metadata-values.js';

/** The metadata of a new content. What is not JSON is kept as a value. */
export function metadataOf(text: string | undefined): JsonObject | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const value = parsed(text);
  if (value === undefined) return { value: text };
  if (value === null) return undefined;
  if (!isJsonObject(value)) throw notAnObject('body', 'metadata', value);
  return value;
}

/** Metadata that a list is filtered by. */
export function metadataFilterOf(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  const value = parsed(text);
  if (!isJsonObject(value)) throw notAnObject('query', 'metadata', value ?? text);
  const fault = metadataFault(value);
  if (fault !== undefined) throw invalid('query', 'metadata', fault);
  return value;
}

/** The metadata of a change. */
export function changedMetadataOf(text: string | undefined): JsonObject | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const value = parsed(text);
  if (value === undefined) throw errors.invalidMetadata();
  if (!isJsonObject(value)) throw notAnObject('body', 'metadata', value);
  return value;
}

export function removedKeysOf(text: string | undefined): readonly string[] {
  if (text === undefined || text.trim() === '') return [];
  const value = parsed(text);
  const isList = Array.isArray(value) && value.every((key) => typeof key === 'string');
  if (!isList) throw invalid('body', 'remove_metadata', 'it must be a JSON array of keys');
  return value;
}

/** One address, or several: as it is, as a JSON string or as a JSON array. */
export function urlsOf(text: string): string | readonly string[] {
  const given = text.trim();
  if (!/^["[]/.test(given)) return given;
  const value = parsed(given);
  if (typeof value === 'string') return value;
  if (!Array.isArray(value) || !value.every((url) => typeof url === 'string') || value.length === 0)
    throw invalid('body', 'url', 'it must be an address or a JSON array of addresses');
  return value;
}

export function sourceParametersOf(source: ContentSource, text: string | undefined): SourceParameters {
  if (text === undefined || text.trim() === '') return {};
  const value = parsed(text);
  if (value === undefined) throw errors.sourceParametersRefused('source_params must be a valid JSON object');
  if (!isJsonObject(value)) throw errors.sourceParametersRefused('source_params must be a JSON object');
  const names = Object.keys(value);
  if (names.length === 0) return {};
  const { configName, parameters } = source;
  if (parameters.length === 0)
    throw errors.sourceParametersRefused(`Source type '${configName}' does not accept source_params.`);
  const unknown = names.filter((name) => !parameters.includes(name)).sort();
  if (unknown.length > 0)
    throw errors.sourceParametersRefused(
      `Unknown source_params for ${configName}: ${quoted(unknown)}. Allowed: ${quoted(parameters)}.`,
    );
  const texts = Object.entries(value).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  if (texts.length < names.length)
    throw errors.sourceParametersRefused('The values of source_params must be texts.');
  return Object.fromEntries(texts);
}

/** Undefined for a text that is not JSON. */
function parsed(text: string): Json | undefined {
  try {
    return parseUntrustedJson(text);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return undefined;
  }
}

function notAnObject(part: 'body' | 'query', field: string, input: unknown) {
  const msg = 'Input should be a valid dictionary';
  return errors.invalidRequest([{ type: 'dict_type', loc: [part, field], msg, input }]);
}

function invalid(part: 'body' | 'query', field: string, fault: string) {
  const msg = `Value error, ${fault}`;
  return errors.invalidRequest([{ type: 'value_error', loc: [part, field], msg, input: null }]);
}

function quoted(names: readonly string[]): string {
  return `[${names.map((name) => `'${name}'`).join(', ')}]`;
}
