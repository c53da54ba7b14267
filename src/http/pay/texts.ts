// Every text of the pages, by language.
import type { Language } from '../../receipts/texts.ts';
import { en, type Texts } from './texts/en.ts';
import { ms } from './texts/ms.ts';

export const texts: Readonly<Record<Language, Texts>> = { en, ms };
