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

/** Undefined without a filter. Throws RequestFault for an invalid regular expression. */
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

function compile(source: string): RegExp {
  try {
    return new RegExp(source);
  } catch (error) {
    throw new RequestFault(`The filter is not a regular expression: ${String(error)}`);
  }
}
