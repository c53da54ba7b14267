/** The email with the sign-in link, in the language of the page that asked for it. */
import type { Language } from '../../../common/languages.ts';
import { phrase } from '../../../common/phrases.ts';
import { createTemplates } from '../../../common/templates.ts';

const templates = createTemplates('email');

export function linkEmail({ lang, name, url }: { lang: Language; name: string; url: string }) {
  const why = phrase(
    lang,
    'You, or somebody who knows your address, asked to sign in to the console of the payment ledger as {name}.',
    { name },
  );
  const notes = [
    phrase(lang, 'The link works once, within 15 minutes.'),
    phrase(lang, 'If you did not ask for it, ignore this email: nobody can sign in without it.'),
  ];
  const title = phrase(lang, 'Sign in to the payment ledger');
  const submit = phrase(lang, 'Sign in');
  return {
    subject: title,
    text: [why, '', url, '', ...notes, ''].join('\n'),
    html: templates.render('sign-in.njk', { lang, title, why, url, submit, notes }),
  };
}
