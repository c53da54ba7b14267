/** The email with the sign-in link. It loads nothing, and the names in it are escaped. */

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
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>${title}</title>
</head>
<body style="margin:0;padding:24px;background:#ffffff;color:#18181b;font:16px/1.5 -apple-system,'Segoe UI',Roboto,'Noto Sans',Arial,sans-serif">
<p>${escaped(why)}</p>
<p><a href="${escaped(url)}" style="display:inline-block;padding:12px 20px;background:#2563eb;color:#ffffff;border-radius:8px;font-weight:700;text-decoration:none">Sign in</a></p>
${notes.map((note) => `<p>${note}</p>`).join('\n')}
</body>
</html>
`,
  };
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
