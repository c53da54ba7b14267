/** The texts of the two test pages. Names of fields are those of the interface, in every language. */
const en = {
  debug: {
    title: 'Send a gateway result',
    what: 'Stands in for the payment gateway: choose a payment and what became of it, then send that. It signs with the gateway’s secret, so it exists only where the sandbox is on.',
    choose: 'Choose a payment',
    show: 'Show',
    latest: 'Latest payments',
    empty: 'There are none yet.',
    unlisted: 'They cannot be listed at the moment. Enter a TRANS_ID.',
    unknown: 'No payment has this TRANS_ID.',
    receipt: 'Its receipt or statement',
    result: 'What the gateway says',
    leftOut: 'A field that is empty is left out.',
    sign: 'Sign',
    signed: 'What will be sent',
    send: 'Send to /generic/response',
  },
  simulate: {
    title: 'Request a payment',
    what: 'Makes the call that a merchant’s server makes, and shows what it is answered.',
    optional: 'Optional fields',
    sendJson: 'Send, answer in JSON',
    sendPage: 'Send, show the page',
    sendNothing: 'Only show the call',
    call: 'The call',
    answer: 'The answer',
    open: 'Open the payment page',
    errors: {
      apiKey: 'api_key may hold ASCII characters without spaces only.',
      extra: 'extra must be a JSON object.',
    },
  },
};

const ms: typeof en = {
  debug: {
    title: 'Hantar keputusan gerbang',
    what: 'Menggantikan gerbang pembayaran: pilih pembayaran dan keputusannya, kemudian hantar. Halaman ini menandatangani dengan rahsia gerbang, jadi ia wujud hanya apabila kotak pasir dihidupkan.',
    choose: 'Pilih pembayaran',
    show: 'Papar',
    latest: 'Pembayaran terkini',
    empty: 'Belum ada.',
    unlisted: 'Senarai tidak tersedia buat masa ini. Masukkan TRANS_ID.',
    unknown: 'Tiada pembayaran dengan TRANS_ID ini.',
    receipt: 'Resit atau penyatanya',
    result: 'Kata gerbang',
    leftOut: 'Medan yang kosong tidak dihantar.',
    sign: 'Tandatangan',
    signed: 'Yang akan dihantar',
    send: 'Hantar ke /generic/response',
  },
  simulate: {
    title: 'Minta pembayaran',
    what: 'Membuat panggilan seperti pelayan pedagang, dan memaparkan jawapannya.',
    optional: 'Medan pilihan',
    sendJson: 'Hantar, jawapan JSON',
    sendPage: 'Hantar, papar halaman',
    sendNothing: 'Papar panggilan sahaja',
    call: 'Panggilan',
    answer: 'Jawapan',
    open: 'Buka halaman pembayaran',
    errors: {
      apiKey: 'api_key hanya boleh mengandungi aksara ASCII tanpa ruang.',
      extra: 'extra mesti objek JSON.',
    },
  },
};

export const testPageTexts = { en, ms };
