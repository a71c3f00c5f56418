// The mathematical value of a JSON number literal, written one way, so that two spellings can be compared exactly.

const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const ZERO = '0'.charCodeAt(0);

/** `-12.50e3` gives `-125e2`; every spelling of one value gives one text, and zero has no sign. */
export function canonicalDecimal(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = PARTS.exec(literal) ?? [];
  const digits = whole + fraction;
  // Loops, not /0+$/: on digits with many runs of zeros that expression takes quadratic time.
  let start = 0;
  while (digits.charCodeAt(start) === ZERO) start += 1;
  if (start === digits.length) return '0';
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === ZERO) end -= 1;
  const power = Number(exponent) - fraction.length + (digits.length - end);
  return `${sign}${digits.slice(start, end)}e${power}`;
}
