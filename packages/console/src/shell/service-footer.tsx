import { useQuery } from '@tanstack/react-query';
import CircleHelp from 'lucide-react/icons/circle-question-mark';
import Moon from 'lucide-react/icons/moon';
import Sun from 'lucide-react/icons/sun';
import SunMoon from 'lucide-react/icons/sun-moon';
import { changeAddress } from '../connection/connection.js';
import { useConnection } from '../connection/use-connection.js';
import { Button, IconButton } from '../ui/button.js';
import { setTheme, type Theme, useTheme } from './theme.js';

const nextTheme: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };
const icons = { system: SunMoon, light: Sun, dark: Moon };

/** Which service is shown, for whom, and the switches that belong to the console itself. */
export function ServiceFooter({ onHelp }: { onHelp(): void }) {
  const { address, claims } = useConnection();
  const theme = useTheme();
  const ThemeIcon = icons[theme];
  const name = useServiceName();
  return (
    <div className="px-3 py-2">
      {address && (
        <div className="mb-2 rounded-md bg-warning-soft p-2 text-xs text-warning">
          <p className="font-medium">Another service</p>
          <p className="[overflow-wrap:anywhere]">{address}</p>
          <Button size="small" className="mt-1.5 w-full" onClick={() => changeAddress('')}>
            Use this service
          </Button>
        </div>
      )}
      <div className="flex items-center gap-1">
        <div className="min-w-0 flex-1 px-2 text-xs leading-tight">
          <p className="truncate font-medium">{name ?? '…'}</p>
          <p className="truncate text-muted">{claims?.user ?? (address ? 'remote' : location.host)}</p>
        </div>
        <IconButton size="small" label={`Theme: ${theme}`} onClick={() => setTheme(nextTheme[theme])}>
          <ThemeIcon aria-hidden className="size-4" />
        </IconButton>
        <IconButton size="small" label="Keyboard shortcuts" onClick={onHelp}>
          <CircleHelp aria-hidden className="size-4" />
        </IconButton>
      </div>
    </div>
  );
}

function useServiceName(): string | undefined {
  const { client, address } = useConnection();
  const { data } = useQuery({
    queryKey: ['info', address],
    queryFn: ({ signal }) => client.service.getInfo({ signal }),
    staleTime: 60_000,
  });
  return data && (data.name ?? data.os_id);
}
