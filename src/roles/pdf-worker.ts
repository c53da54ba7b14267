/** Draws PDFs: what runs in the thread of `pdf-threads.ts`. */
import { buffer } from 'node:stream/consumers';
import { receiptPdf } from '../receipts/pdf.ts';
import type { Documents } from '../statements/document.ts';
import { collectionPdf } from '../statements/pdf.ts';

export const receipt = (args: Parameters<Documents['receipt']>) => buffer(receiptPdf(...args));

export const collection = (args: Parameters<Documents['collection']>) => buffer(collectionPdf(...args));
