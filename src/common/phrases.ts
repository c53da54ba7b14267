/** The console's sentences in Malay. The key of each is the English one, as templates and the program say it. */
import { format } from '@ledger/kernel/format.ts';
import { createPhrasebook } from '@ledger/kernel/phrasebook.ts';
import ms from '../../content/texts/phrases.ms.json' with { type: 'json' };
import type { Language } from './languages.ts';

const inMalay = createPhrasebook(ms.messages, ms.templates);

/** An English sentence in another language, with its placeholders filled. A text that is not ours stays as it is. */
export function phrase(lang: Language, text: string, values: Readonly<Record<string, unknown>> = {}): string {
  return format(lang === 'en' ? text : inMalay(text), values);
}
