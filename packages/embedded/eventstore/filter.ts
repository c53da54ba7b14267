// The filters of a subscription to $all: by regex or prefixes, on the stream's name or the event's type.

import type streams from '@eventstore/db-client/generated/streams_pb.js';
import type { StoredEvent } from './log.ts';
import { RequestFault } from './wire.ts';

export type EventFilter = {
  matches(event: StoredEvent): boolean;
  /** A checkpoint goes out whenever this many events have been looked at. */
  checkpointInterval: number;
};

const DEFAULT_SEARCH_WINDOW = 32;

/** Undefined when everything is asked for. Throws RequestFault on a regex that cannot be compiled. */
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
