/** The templates of views/. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTemplates as createTemplatesIn } from '@ledger/web/templates.ts';

const views = fileURLToPath(new URL('../../views/', import.meta.url));

/** Those of a folder of views/, such as `email`. */
export const createTemplates = (folder = '') => createTemplatesIn(resolve(views, folder));
