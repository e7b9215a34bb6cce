/** What helps to test agents without a provider: `import { scriptedModel } from 'runyard/testing'`. */
export {
  type ScriptedAnswer,
  type ScriptedMedia,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedToolCall,
  type ScriptedTurn,
  scriptedModel,
} from './core/models/scripted.js';
