import { Page, PageHeader } from '../../ui/page-header.js';
import { AddressPanel } from './address-panel.js';
import { ServicePanel } from './service-panel.js';
import { ThemePanel } from './theme-panel.js';
import { TokenPanel } from './token-panel.js';

export function SettingsPage() {
  return (
    <Page>
      <PageHeader title="Settings" description="They apply to this browser, not to the service." />
      <div className="flex max-w-2xl flex-col gap-4">
        <AddressPanel />
        <TokenPanel />
        <ThemePanel />
        <ServicePanel />
      </div>
    </Page>
  );
}
