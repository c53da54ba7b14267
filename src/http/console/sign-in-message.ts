/** The email with the link. It asks no host for anything, and a name is no more than text in it. */

export function signInMessage({ name, url }: { name: string; url: string }) {
  const lines = [
    `You, or somebody who knows your address, asked to sign in to the payment ledger’s console as ${name}.`,
    'The link works once, within 15 minutes.',
    'If it was not you, do nothing: without this email nobody gets in.',
  ];
  return {
    subject: 'Sign in to the payment ledger',
    text: [lines[0], '', url, '', ...lines.slice(1), ''].join('\n'),
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sign in to the payment ledger</title>
</head>
<body style="margin:0;padding:24px;font:16px/1.5 -apple-system,'Segoe UI',Roboto,'Noto Sans',Arial,sans-serif">
<p>${escaped(lines[0] ?? '')}</p>
<p><a href="${escaped(url)}" style="display:inline-block;padding:12px 20px;background:#2563eb;color:#ffffff;border-radius:8px;font-weight:700;text-decoration:none">Sign in</a></p>
${lines
  .slice(1)
  .map((line) => `<p>${escaped(line)}</p>`)
  .join('\n')}
</body>
</html>
`,
  };
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
