import { model } from '../../models/model-kind.js';
import { flag, objectOf, text, word } from '../../options/kinds.js';
import type { LearningSettings } from './learning-settings.js';

export const learning = objectOf<LearningSettings>({
  mode: word('always', 'agentic'),
  userProfile: flag,
  userMemory: flag,
  sessionContext: flag,
  entityMemory: flag,
  decisions: flag,
  namespace: text,
  model,
  instructions: text,
});
