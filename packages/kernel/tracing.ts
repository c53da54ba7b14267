/**
 * Spans at the borders of the program, such as a request or an append. Off unless a composition root has set who
 * records them, as with OpenTelemetry's own API, which is not loaded before.
 */
type Attributes = Readonly<Record<string, string | number>>;
type Headers = Readonly<Record<string, string | string[] | undefined>>;

type RecordSpan = <Result>(
  name: string,
  attributes: Attributes,
  work: (note: (more: Attributes) => void) => Promise<Result>,
  headers?: Headers,
) => Promise<Result>;

const ignore = () => {};
let record: RecordSpan = (_name, _attributes, work) => work(ignore);

export function recordSpansWith(recorder: RecordSpan): void {
  record = recorder;
}

/** Does `work`, in a span where spans are recorded. No personal data, and no ids that open a page. */
export const inSpan: RecordSpan = (...span) => record(...span);
