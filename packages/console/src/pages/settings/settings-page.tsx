import { useMay } from '../../connection/use-connection.js';
import { useSearchState } from '../../data/search-state.js';
import { Page, PageHeader } from '../../ui/page-header.js';
import { Tabs } from '../../ui/tabs.js';
import { AddressPanel } from './address-panel.js';
import { DatabasesTab } from './databases-tab.js';
import { HealthPanel } from './health-panel.js';
import { ServiceAccountsTab } from './service-accounts-tab.js';
import { ServicePanel } from './service-panel.js';
import { ThemePanel } from './theme-panel.js';
import { TokenPanel } from './token-panel.js';

export function SettingsPage() {
  const may = useMay();
  const [search, change] = useSearchState();
  const tabs = [
    {
      id: 'browser',
      label: 'This browser',
      content: (
        <div className="flex max-w-2xl flex-col gap-4">
          <AddressPanel />
          <TokenPanel />
          <ThemePanel />
        </div>
      ),
    },
    {
      id: 'service',
      label: 'Service',
      content: (
        <div className="flex max-w-2xl flex-col gap-4">
          <HealthPanel />
          <ServicePanel />
        </div>
      ),
    },
    ...(may('service_accounts:read')
      ? [{ id: 'accounts', label: 'Service accounts', content: <ServiceAccountsTab /> }]
      : []),
    ...(may('config:read') ? [{ id: 'databases', label: 'Databases', content: <DatabasesTab /> }] : []),
  ];
  return (
    <Page>
      <PageHeader title="Settings" />
      <Tabs
        label="Settings"
        tabs={tabs}
        value={tabs.some(({ id }) => id === search.tab) ? (search.tab ?? '') : 'browser'}
        onChange={(id) => change({ tab: id === 'browser' ? undefined : id })}
      />
    </Page>
  );
}
