// The filters of $all: a regular expression or prefixes, for the stream name or the event type.
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import type { StoredEvent } from './log.ts';
import { RequestFault } from './wire.ts';

export type EventFilter = {
  matches(event: StoredEvent): boolean;
  /** A checkpoint is sent after this many events, whether they match or not. */
  checkpointInterval: number;
};

const DEFAULT_SEARCH_WINDOW = 32;

/** Undefined without a filter. Throws RequestFault for a regular expression that `compile` does not take. */
export function parseFilter(
  options: streams.ReadReq.Options.FilterOptions | undefined,
): EventFilter | undefined {
  if (!options) return undefined;
  const onStream = options.getStreamIdentifier();
  const matchesText = textMatcher(onStream ?? options.getEventType());
  const window = options.hasMax() ? options.getMax() : DEFAULT_SEARCH_WINDOW;
  return {
    matches: onStream ? ({ stream }) => matchesText(stream) : ({ type }) => matchesText(type),
    checkpointInterval: Math.max(1, window * options.getCheckpointintervalmultiplier()),
  };
}

function textMatcher(
  expression: streams.ReadReq.Options.FilterOptions.Expression | undefined,
): (text: string) => boolean {
  const source = expression?.getRegex();
  if (source) {
    const regex = compile(source);
    return (text) => regex.test(text);
  }
  const prefixes = expression?.getPrefixList() ?? [];
  return (text) => prefixes.some((prefix) => text.startsWith(prefix));
}

// One character: itself, escaped, any, or of a class.
const ATOM = String.raw`(?:[^\\^$.|?*+()[\]{}]|\\[^a-zA-Z0-9]|\\[dws]|\.|\[\^?(?:[^\\\]]|\\.)+\])`;
const SHAPE = new RegExp(String.raw`^\^(?:${ATOM}*|\((?:\?:)?${ATOM}*(?:\|${ATOM}*)*\))(?:\.\*)?\$?$`);
const MAX_LENGTH = 16_384;

/** Only expressions that are matched in one pass: others can take minutes for one name, and this process has one thread. */
function compile(source: string): RegExp {
  if (source.length <= MAX_LENGTH && SHAPE.test(source)) return new RegExp(source);
  throw new RequestFault(
    'The embedded event store takes no such regular expression: it begins with ^, goes on with characters and classes ' +
      `or with one group of alternatives, may end with .* and $, and has at most ${MAX_LENGTH} characters`,
  );
}
