import { expect, it } from 'vitest';
import { callTool } from '../../../../test/tools/tool-call.js';
import { clock } from './clock.js';

const now = () => Date.UTC(2026, 6, 1, 22, 30, 5);
const tell = async (args: Record<string, string>) => {
  const { content, error } = await callTool(clock({ now }), args);
  return error ? content : JSON.parse(content);
};

it('returns the time in a time zone', async () => {
  expect(await tell({})).toEqual({
    time_zone: 'UTC',
    date: '2026-07-01',
    time: '22:30:05',
    weekday: 'Wednesday',
    utc_offset: '+00:00',
    utc: '2026-07-01T22:30:05.000Z',
  });
  expect(await tell({ time_zone: 'Asia/Tokyo' })).toMatchObject({
    date: '2026-07-02',
    time: '07:30:05',
    weekday: 'Thursday',
    utc_offset: '+09:00',
  });
});

it('converts a given moment, summer time included', async () => {
  const paris = (at: string) => tell({ time_zone: 'Europe/Paris', at });
  expect(await paris('2026-01-15T23:30:00Z')).toMatchObject({ time: '00:30:00', utc_offset: '+01:00' });
  expect(await paris('2026-07-15T08:00:00-04:00')).toMatchObject({ time: '14:00:00', utc_offset: '+02:00' });
});

it('uses the time zone of its options', async () => {
  const { content } = await callTool(clock({ now, timeZone: 'America/New_York' }));
  expect(JSON.parse(content)).toMatchObject({ time: '18:30:05', utc_offset: '-04:00' });
});

it('says what it does not understand', async () => {
  expect(await tell({ time_zone: 'Mars/Olympus' })).toContain("no time zone 'Mars/Olympus'");
  expect(await tell({ at: 'tomorrow' })).toContain("'tomorrow' is not a moment");
  expect(await tell({ at: '2026-01-15T10:00:00' })).toContain('with an offset');
});
