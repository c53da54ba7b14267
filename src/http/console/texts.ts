/** The labels and longer texts of the console, by language. What its templates say is in phrases.ms.json. */
import en from '../../../content/texts/console.en.json' with { type: 'json' };
import ms from '../../../content/texts/console.ms.json' with { type: 'json' };
import type { Language } from '../../common/languages.ts';
import { type Context, languageOf } from '../server/context.ts';

export type ConsoleTexts = typeof en;

export const texts: Readonly<Record<Language, ConsoleTexts>> = { en, ms };

export const textsOf = (ctx: Context): ConsoleTexts => texts[languageOf(ctx)];
