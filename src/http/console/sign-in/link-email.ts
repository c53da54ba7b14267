/** The email with the sign-in link. */
import { createTemplates } from '../../../common/templates.ts';

const templates = createTemplates('email');

export function linkEmail({ name, url }: { name: string; url: string }) {
  const why = `You, or somebody who knows your address, asked to sign in to the console of the payment ledger as ${name}.`;
  const notes = [
    'The link works once, within 15 minutes.',
    'If you did not ask for it, ignore this email: nobody can sign in without it.',
  ];
  const title = 'Sign in to the payment ledger';
  return {
    subject: title,
    text: [why, '', url, '', ...notes, ''].join('\n'),
    html: templates.render('sign-in.njk', { title, why, url, notes }),
  };
}
