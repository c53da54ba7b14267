// Before a form marked `data-passkey` is sent, the browser is asked for a passkey, and its answer is put into the form.

const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  );

const textOf = (buffer) =>
  btoa(Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

const withBytes = (credentials) => credentials?.map((each) => ({ ...each, id: bytesOf(each.id) }));

// As PublicKeyCredential.parseCreationOptionsFromJSON and its like do, which not every browser has yet.
const ask = async ({ get, create }) => {
  const options = get ?? create;
  const publicKey = { ...options, challenge: bytesOf(options.challenge) };
  if (get)
    return navigator.credentials.get({
      publicKey: { ...publicKey, allowCredentials: withBytes(options.allowCredentials) },
    });
  const user = { ...options.user, id: bytesOf(options.user.id) };
  const excludeCredentials = withBytes(options.excludeCredentials);
  return navigator.credentials.create({ publicKey: { ...publicKey, user, excludeCredentials } });
};

const answerOf = ({ id, type, response }) => {
  const fields = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];
  const given = fields.filter((field) => response[field]);
  const transports = response.getTransports?.();
  return {
    id,
    rawId: id,
    type,
    clientExtensionResults: {},
    response: {
      ...Object.fromEntries(given.map((field) => [field, textOf(response[field])])),
      ...(transports && { transports }),
    },
  };
};

for (const form of window.PublicKeyCredential ? document.querySelectorAll('form[data-passkey]') : []) {
  const button = form.querySelector('[data-with]');
  const failed = form.querySelector('[data-failed]');
  form.querySelector('[data-without]').hidden = true;
  button.hidden = false;
  if (form.elements.length === 2) button.focus();
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    failed.hidden = true;
    try {
      form.elements.response.value = JSON.stringify(answerOf(await ask(JSON.parse(form.dataset.passkey))));
      form.submit();
    } catch {
      button.disabled = false;
      failed.hidden = false;
    }
  });
}
