/** Forms with a file: each is held in memory, and only one import runs at a time. */
import { type ReadBody, readFormData } from '../../server/body.ts';
import { type Context, HttpProblem } from '../../server/context.ts';
import type { Page } from './page.ts';

const maxUploadBytes = 20 * 1024 * 1024;

export const readUpload: ReadBody = async (ctx, next) => {
  if (!ctx.is('multipart/form-data')) throw new HttpProblem(415, 'Send the form of the page');
  Object.assign(ctx.request, { body: Object.fromEntries(await readFormData(ctx, maxUploadBytes)) });
  return next();
};

/** A form in which no file was chosen has one without a name. */
export function uploadOf({ request }: Context): Blob | null {
  const file: unknown = Reflect.get(Object(request.body), 'file');
  return file instanceof File && file.name !== '' ? file : null;
}

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
