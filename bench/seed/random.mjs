/** Numbers that look random and are the same every time. */
export class Random {
  constructor(seed) {
    this.state = seed;
  }

  /** From 0 to below 1. */
  next() {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to below the given one. */
  below(count) {
    return Math.floor(this.next() * count);
  }

  /** Small numbers come much more often than great ones. */
  skewed(count) {
    return Math.floor(this.next() ** 3 * count);
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  chance(share) {
    return this.next() < share;
  }

  hex(digits) {
    let text = '';
    while (text.length < digits)
      text += this.below(2 ** 32)
        .toString(16)
        .padStart(8, '0');
    return text.slice(0, digits);
  }

  /** A UUID of version 7, as Runyard makes them: it sorts by time. */
  idAt(time, sequence = 0) {
    const clock = Math.floor(time).toString(16).padStart(12, '0');
    const middle = `7${(sequence & 0xfff).toString(16).padStart(3, '0')}`;
    const rest = this.hex(15);
    return `${clock.slice(0, 8)}-${clock.slice(8)}-${middle}-a${rest.slice(0, 3)}-${rest.slice(3)}`;
  }
}
