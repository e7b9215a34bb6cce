import { setTheme, themeOf, useTheme } from '../../shell/theme.js';
import { Field } from '../../ui/forms/field.js';
import { Select } from '../../ui/forms/inputs.js';
import { Panel } from '../../ui/panel.js';

export function ThemePanel() {
  return (
    <Panel title="Appearance">
      <Field label="Theme">
        <Select
          className="max-w-xs"
          value={useTheme()}
          options={[
            { value: 'system', label: 'As the device' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
          onChange={(event) => setTheme(themeOf(event.target.value))}
        />
      </Field>
    </Panel>
  );
}
