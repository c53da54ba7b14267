// The filters of $all: a regular expression or prefixes, for the stream name or the event type.
import { orElse } from '@ledger/kernel/or-else.ts';
import { has, type Message, messageIn, numberIn, textIn, textsIn } from '@ledger/kernel/read-protobuf.ts';
import type { StoredEvent } from './log-tables.ts';
import { RequestFault } from './wire.ts';

export type EventFilter = {
  matches(event: StoredEvent): boolean;
  /** A checkpoint is sent after this many events, whether they match or not. */
  checkpointInterval: number;
};

const DEFAULT_SEARCH_WINDOW = 32;

/** Undefined without a filter. Throws RequestFault for a regular expression that `compile` does not take. */
export function parseFilter(options: Message | undefined): EventFilter | undefined {
  if (!options) return undefined;
  const onStream = messageIn(options, 1);
  const matchesText = textMatcher(onStream ?? messageIn(options, 2));
  const window = has(options, 3) ? Number(numberIn(options, 3)) : DEFAULT_SEARCH_WINDOW;
  return {
    matches: onStream ? ({ stream }) => matchesText(stream) : ({ type }) => matchesText(type),
    checkpointInterval: Math.max(1, window * Number(numberIn(options, 5))),
  };
}

function textMatcher(expression: Message | undefined): (text: string) => boolean {
  const source = textIn(expression, 1);
  if (source) {
    const regex = compile(source);
    return (text) => regex.test(text);
  }
  const prefixes = expression ? textsIn(expression, 2) : [];
  return (text) => prefixes.some((prefix) => text.startsWith(prefix));
}

// One character: itself, escaped, any, or of a class.
const ATOM = String.raw`(?:[^\\^$.|?*+()[\]{}]|\\[^a-zA-Z0-9]|\\[dws]|\.|\[(?:[^\\\]]|\\.)+\])`;
const SHAPE = new RegExp(String.raw`^\^(?:${ATOM}*|\((?:\?:)?${ATOM}*(?:\|${ATOM}*)*\))(?:\.\*)?\$?$`);
const MAX_LENGTH = 16_384;

/** Only expressions that are matched in one pass: others can take minutes for one name, and this process has one thread. */
function compile(source: string): RegExp {
  const isOfShape = source.length <= MAX_LENGTH && SHAPE.test(source);
  const regex = isOfShape && orElse(() => new RegExp(source), null);
  if (regex) return regex;
  throw new RequestFault(
    'The embedded event store takes no such regular expression: it begins with ^, then has characters and classes ' +
      `or with one group of alternatives, may end with .* and $, and has at most ${MAX_LENGTH} characters`,
  );
}
