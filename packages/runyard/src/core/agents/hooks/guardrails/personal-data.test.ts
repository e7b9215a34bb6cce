import { describe, expect, test } from 'vitest';
import { patience } from '../../../../../test/support/patience.js';
import { GuardrailRefusal, type HookContext } from '../hook.js';
import { type PersonalDataKind, personalDataGuardrail } from './personal-data.js';

const nobody = {} as HookContext;

async function masked(content: string, kinds?: readonly PersonalDataKind[]): Promise<string> {
  const guardrail = personalDataGuardrail({ mask: true, ...(kinds && { kinds }) });
  return (await guardrail.run({ content }, nobody)) ?? content;
}

describe('personal data', () => {
  test.each([
    ['Write to ada.lovelace+x@mail.example.co.uk, please.', 'Write to [email], please.'],
    ['<björk@müller.example>', '<[email]>'],
    ['card 4111 1111 1111 1111 123 and 5500-0000-0000-0004.', 'card [card] 123 and [card].'],
    ['no 12 4111111111111111', 'no 12 [card]'],
    ['IBAN DE89 3704 0044 0532 0130 00 THANKS', 'IBAN [iban] THANKS'],
    ['de89370400440532013000 and GB82 WEST 1234 5698 7654 32', '[iban] and [iban]'],
    ['AB12 DE89 3704 0044 0532 0130 00 GB82 WEST 1234 5698 7654 32', 'AB12 [iban] [iban]'],
    ['ssn 123-45-6789', 'ssn [us_ssn]'],
    ['call +49 30 1234567, (555) 123-4567 or 555.123.4567', 'call [phone], [phone] or [phone]'],
    ['ring 030 1234567', 'ring [phone]'],
  ])('%s', async (text, expected) => {
    expect(await masked(text)).toBe(expected);
  });

  test.each([
    'On 2024-01-15 at 10:30 we sold 1234567 pieces for 12,345.67.',
    'order 4111 1111 1111 1112, invoice 20240115123456',
    'version 1.2.3, 192.168.0.1, a@b, user@host',
    'ssn 000-12-3456, 666-12-3456, 123-45-67890',
    'XX12 3456 7890 1234, 4444 4444 4444 4444',
    'pi is 3.14159265358979, 0.5 + 0.25',
  ])('is not seen in: %s', async (text) => {
    expect(await masked(text)).toBe(text);
  });

  test('is looked for only as far as asked', async () => {
    const text = 'a@b.example from 192.168.0.1';
    expect(await masked(text, ['ip_address'])).toBe('a@b.example from [ip_address]');
    expect(await masked('DE89 3704 0044 0532 0130 01', ['iban'])).not.toContain('[iban]');
    expect(() => personalDataGuardrail({ kinds: ['fax' as PersonalDataKind] })).toThrow('fax');
  });

  test('is refused without being repeated', async () => {
    const refusal = await personalDataGuardrail()
      .run({ content: 'a@b.example, 123-45-6789' }, nobody)
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(GuardrailRefusal);
    expect(refusal).toMatchObject({
      message: 'The text holds personal data: email, us_ssn.',
      details: { trigger: 'pii_detected', additionalData: { kinds: ['email', 'us_ssn'] } },
    });
  });

  test('is found anywhere in an object, whose other parts stay', async () => {
    const content = { note: 'a@b.example', list: ['x', { deep: '123-45-6789' }], count: 3, none: null };
    expect(await personalDataGuardrail({ mask: true }).run({ content }, nobody)).toEqual({
      note: '[email]',
      list: ['x', { deep: '[us_ssn]' }],
      count: 3,
      none: null,
    });
  });

  test.each([
    ['digits and blanks', '4 5 '.repeat(25_000)],
    ['digits', '1'.repeat(100_000)],
    ['an endless address', `${'a.'.repeat(50_000)}@`],
    ['an endless host', `a@${'a.'.repeat(50_000)}`],
    ['capitals', 'DE12 '.repeat(20_000)],
    ['plus signs', '+1 '.repeat(33_000)],
  ])('takes bounded time over %s', async (_what, text) => {
    const started = performance.now();
    await masked(text, ['email', 'iban', 'card', 'us_ssn', 'phone', 'ip_address']);
    // catastrophic backtracking would take hours
    expect(performance.now() - started).toBeLessThan(patience());
  });
});
