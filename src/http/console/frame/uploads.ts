/** Forms with a file: each is held in memory, and only one import runs at a time. */
import { type ReadBody, readFormData } from '../../server/body.ts';
import { HttpProblem } from '../../server/context.ts';
import type { Page } from './page.ts';

const maxUploadBytes = 20 * 1024 * 1024;

/** The file of each upload; the texts of its form are in the body, as with every form. */
const uploads = new WeakMap<object, Blob>();

export const readUpload: ReadBody = async (ctx, next) => {
  if (!ctx.is('multipart/form-data')) throw new HttpProblem(415, 'Send the form of the page');
  const form = await readFormData(ctx, maxUploadBytes);
  const file = form.get('file');
  // A form in which no file was chosen has one without a name.
  if (file instanceof File && file.name !== '') uploads.set(ctx, file);
  ctx.request.body = Object.fromEntries(
    Array.from(form).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
  return next();
};

export const uploadOf = (ctx: object): Blob | null => uploads.get(ctx) ?? null;

/** Runs only one of the pages that it is given at a time: each holds a file of up to 20 MiB. */
export function createImportGuard(): (page: Page) => Page {
  let isImporting = false;
  return (page) => async (ctx, dependencies) => {
    if (isImporting) throw new HttpProblem(409, 'Another import is in progress');
    isImporting = true;
    await page(ctx, dependencies).finally(() => {
      isImporting = false;
    });
  };
}
