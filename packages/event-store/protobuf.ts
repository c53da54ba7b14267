/**
 * Protobuf by hand, for the messages of which a program sends or receives many: the official client's generated classes
 * took most of their time.
 */

export const text = (tag: number, value: string) => field(tag, Buffer.from(value));

/** A field of bytes, text or a message. */
export function field(tag: number, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.from([tag * 8 + 2, ...varint(length)]), ...parts]);
}

/** Any number up to 2^53. */
export const number = (tag: number, value: number) => Buffer.from([tag * 8, ...varint(value)]);

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}
