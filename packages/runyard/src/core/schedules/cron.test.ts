import { describe, expect, it } from 'vitest';
import { InvalidCron, parseCron } from './cron.js';
import { isTimeZone } from './time-zone.js';

describe('the cron grammar', () => {
  it.each([
    ['0 3 * * *', '0 3 * * *'],
    ['  */5 0-23/2 1,15 JAN-mar Mon-FRI ', '*/5 0-23/2 1,15 1-3 1-5'],
    ['0 0 ? * ?', '0 0 * * *'],
    ['0 0 L * *', '0 0 L * *'],
    ['0 0 15W,L * *', '0 0 15W,L * *'],
    ['0 0 * * 5#2', '0 0 * * 5#2'],
    ['0 0 * * L5', '0 0 * * 5#L'],
    ['0 0 * * 5L', '0 0 * * 5#L'],
    ['0 0 * * 7', '0 0 * * 7'],
    ['0 0 * * fri-sun', '0 0 * * 5-7'],
    ['0 0 */1 * 1', '0 0 * * 1'],
    ['@Daily', '0 0 * * *'],
    ['@YEARLY', '0 0 1 1 *'],
    ['@hourly', '0 * * * *'],
  ])('reads %s', (text, fields) => {
    expect(parseCron(text).fields).toBe(fields);
  });

  it.each([
    '',
    '* * * *',
    '61 * * * *',
    '* 24 * * *',
    '0 0 0 * *',
    '0 0 32 * *',
    '0 0 * 13 *',
    '0 0 * * 8',
    '*/0 * * * *',
    '*/99 * * * *',
    '5/15 * * * *',
    '30-10 * * * *',
    '* * * * MON-',
    'H * * * *',
    'R * * * *',
    'R(0-30) * * * *',
    '@reboot',
    '@every 5m',
    '? * * * *',
    '0 0 LW * *',
    '0 0 32W * *',
    '0 0 * * 5#6',
    '0 0 * * L8',
    '0 0 L-3 * *',
    '0 0 * FOO *',
    '0 0 * * +MON',
    '0 0 1-5W * *',
    '*5 * * * *',
    '1,,2 * * * *',
    '-1 * * * *',
    '٣ * * * *',
    `${'1,'.repeat(70)}1 * * * *`,
  ])('refuses %j', (text) => {
    expect(() => parseCron(text)).toThrow(InvalidCron);
  });

  it('says that seconds and years are not supported', () => {
    expect(() => parseCron('*/10 * * * * *')).toThrow(/6 fields.*Seconds and years are not supported/);
    expect(() => parseCron('0 0 0 1 1 * 2030')).toThrow(/7 fields/);
  });

  it.each([
    ['0 * * * *', 'every'],
    ['0 0-23 * * *', 'every'],
    ['0 */1 * * *', 'every'],
    ['0 */2 * * *', 'stepped'],
    ['0 8-18/2 * * *', 'stepped'],
    ['*/5 2 * * *', 'fixed'],
    ['30 1-3 * * *', 'fixed'],
  ])('knows the rhythm of %s', (text, hours) => {
    expect(parseCron(text).hours).toBe(hours);
  });

  it('knows time zones in any case, and no offsets', () => {
    const zones = ['UTC', 'utc', 'america/new_york', 'EST', 'US/Pacific', 'Etc/GMT+5', 'Australia/Lord_Howe'];
    expect(zones.filter((zone) => !isTimeZone(zone))).toEqual([]);
    const others = ['', ' ', '+02:00', '-05', 'Mars/Base', 'UTC+2', 'Europe/Berlin ', 'x'.repeat(65)];
    expect(others.filter(isTimeZone)).toEqual([]);
  });
});
