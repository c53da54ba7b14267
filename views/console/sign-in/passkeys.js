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

// The server checks that the user was verified, and the algorithm, whatever is asked here.
const ask = ({ demand, algorithms, rpId, user, ...asked }) => {
  const challenge = bytesOf(asked.challenge);
  const held = asked.held.map((each) => ({ ...each, id: bytesOf(each.id) }));
  const common = { challenge, timeout: asked.timeout };
  if (demand === 'use')
    return navigator.credentials.get({
      publicKey: { ...common, rpId, allowCredentials: held, userVerification: 'required' },
    });
  return navigator.credentials.create({
    publicKey: {
      ...common,
      rp: { id: rpId, name: document.querySelector('.brand').textContent.trim() },
      user: { ...user, id: bytesOf(user.id) },
      pubKeyCredParams: algorithms.map((alg) => ({ alg, type: 'public-key' })),
      excludeCredentials: held,
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
      attestation: 'none',
    },
  });
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
      failed.hidden = false;
      button.disabled = false;
      // The browser moved the focus away while the button was disabled.
      button.focus();
    }
  });
}
