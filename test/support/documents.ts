// Draws PDFs in the thread of the test: a thread of its own takes half a second to start.
import * as worker from '../../src/roles/pdf-worker.ts';
import type { Documents } from '../../src/statements/document.ts';

export const documents: Documents = {
  receipt: (...args) => worker.receipt(args),
  collection: (...args) => worker.collection(args),
};
