// The pages in Malay.
import { ms as receiptTexts } from '../../../receipts/texts/ms.ts';
import type { Texts } from './en.ts';

export const ms: Texts = {
  ...receiptTexts,
  masthead: 'Perkhidmatan pembayaran rasmi',
  otherLanguage: { code: 'en', name: 'English' },

  limits: (min, max) => `${min} hingga ${max}`,
  belowLimit: (min) => `Tidak tersedia: kaedah ini bermula pada ${min}.`,
  aboveLimit: (max) => `Tidak tersedia: kaedah ini terhad kepada ${max}.`,
  withFee: (fee, total) => `Caj ${fee}, jumlah ${total}`,

  amountToPay: 'Jumlah perlu dibayar',
  payTo: 'Bayar kepada',
  items: 'Senarai bayaran',

  payment: {
    title: 'Bayar',
    details: 'Butiran pembayaran',
    chooseMethod: 'Bagaimanakah anda ingin membayar?',
    chooseBank: 'Pilih bank anda',
    noMethod: 'Tiada kaedah pembayaran yang menerima amaun ini. Sila hubungi agensi.',
    submit: 'Teruskan pembayaran',
    next: 'Anda mengesahkan pembayaran di halaman seterusnya, dengan bank atau penyedia kad anda.',
    cancel: 'Batalkan pembayaran ini',
    safety: 'Kami tidak akan meminta kata laluan perbankan atau kod sekali guna anda di halaman ini.',
  },
  openAttempt: {
    started: (method, when) => `Anda memulakan pembayaran melalui ${method} ${when}.`,
    what: 'Kami belum tahu sama ada pembayaran itu berjaya. Jika anda membayar semula, anda mungkin dicaj dua kali.',
    look: 'Semak sama ada pembayaran itu berjaya',
    again: 'Tetap bayar semula. Pembayaran saya yang terdahulu tidak berjaya.',
  },
  notice: 'Sila ambil perhatian',
  lastAttempts: {
    failed:
      'Percubaan terakhir anda tidak berjaya. Anda boleh cuba lagi. Jika wang telah ditolak daripada akaun anda, jangan bayar semula dahulu: hubungi agensi terlebih dahulu.',
    cancelled: 'Pembayaran ini telah dibatalkan. Anda masih boleh membayar.',
  },
  formErrorTitle: 'Terdapat masalah',
  formErrors: {
    methodMissing: 'Pilih kaedah pembayaran.',
    methodUnavailable: 'Kaedah ini tidak tersedia untuk pembayaran ini. Pilih kaedah lain.',
    bankMissing: 'Pilih bank anda.',
    attemptOpen:
      'Pembayaran yang anda mulakan masih belum selesai. Jika anda mahu membayar semula, sahkan di bawah.',
    cancelOpen:
      'Pembayaran ini belum boleh dibatalkan: bank mungkin telah mengenakan caj. Cuba lagi apabila keputusannya diketahui.',
    bankUnknown: 'Bank ini tiada dalam senarai. Pilih bank anda semula.',
  },

  handOver: {
    title: 'Teruskan ke gerbang pembayaran',
    explanation:
      'Kami sedang membawa anda ke gerbang pembayaran untuk mengesahkan pembayaran. Jika tiada apa-apa berlaku dalam beberapa saat, tekan Teruskan.',
    submit: 'Teruskan',
    safety: 'Jangan tutup tetingkap ini sehingga anda kembali dengan resit.',
  },

  receipt: {
    ...receiptTexts.receipt,
    back: 'Kembali ke',
    pdf: 'Muat turun PDF',
    pay: 'Pergi ke halaman pembayaran',
    tryAgain: 'Cuba lagi',
    payRest: 'Bayar baki',
    refresh: 'Semak semula status',
    looksAgain: 'Halaman ini menyemak semula dengan sendirinya selama kira-kira sepuluh minit.',
    emails: {
      due: (address) => `Resit sedang dihantar ke ${address}.`,
      delivered: (address, time) => `Resit telah dihantar ke ${address} pada ${time}.`,
      abandoned: (address) => `Resit tidak dapat dihantar ke ${address}.`,
      again: 'Hantar semula resit',
    },
  },

  verify: {
    title: 'Resit ini sahih',
    what: 'Resit ini dikeluarkan oleh perkhidmatan ini. Bandingkan halaman ini dengan resit di tangan anda: jika berbeza, resit itu telah diubah.',
  },

  errorCode: (httpStatus) => `Ralat ${httpStatus}`,
  requestId: 'ID permintaan',
  problems: {
    badRequest: {
      title: 'Kami tidak dapat membaca permintaan ini',
      what: 'Ada maklumat yang tiada atau tidak dalam bentuk yang dijangka.',
      todo: 'Kembali ke laman web agensi dan mulakan pembayaran semula.',
    },
    unauthorized: {
      title: 'Pautan ini tidak sah',
      what: 'Pautan tidak lengkap, atau telah diubah sebelum sampai kepada anda.',
      todo: 'Buka semula pautan tepat seperti yang anda terima, atau mulakan dari laman web agensi.',
    },
    paymentNotFound: {
      title: 'Kami tidak mengenali pembayaran ini',
      what: 'Tiada pembayaran dengan nombor dalam alamat ini.',
      todo: 'Semak alamat, atau mulakan semula dari laman web agensi. Jika anda telah membayar, sediakan nombor pada pengesahan bank anda apabila menghubungi agensi.',
    },
    agencyNotFound: {
      title: 'Agensi ini tidak berdaftar di sini',
      what: 'Jawapan bank anda telah diterima dan disimpan.',
      todo: 'Jangan bayar lagi; hubungi agensi.',
    },
    receiptNotFound: {
      title: 'Resit ini tidak dapat disahkan',
      what: 'Tiada resit kami yang mempunyai nombor dan kod ini.',
      todo: 'Imbas kod sekali lagi, atau taip alamat tepat seperti yang dicetak. Resit yang baru dikeluarkan beberapa minit lalu mungkin belum direkodkan di sini. Jika halaman ini muncul lagi, tanya agensi sebelum bergantung pada resit itu.',
    },
    pageNotFound: {
      title: 'Halaman ini tidak wujud',
      what: 'Alamat mungkin tersalah taip atau sudah lapuk.',
      todo: 'Semak alamat, atau mulakan semula dari laman web agensi.',
      action: 'Pergi ke halaman utama',
    },
    expired: {
      title: 'Halaman ini telah tamat tempoh',
      what: 'Demi keselamatan anda, halaman pembayaran hanya boleh digunakan untuk tempoh terhad. Tiada caj dikenakan pada langkah ini.',
      todo: 'Buka halaman baharu dan pilih kaedah pembayaran anda semula.',
      action: 'Buka halaman baharu',
    },
    linkExpired: {
      title: 'Pautan ini telah tamat tempoh',
      what: 'Demi keselamatan anda, pautan kepada pembayaran hanya berfungsi untuk tempoh terhad. Tiada caj dikenakan pada langkah ini.',
      todo: 'Mulakan semula dari laman web agensi.',
    },
    alreadyPaid: {
      title: 'Pembayaran ini telah selesai',
      what: 'Ia tidak perlu dibayar lagi.',
      todo: 'Anda boleh melihat resitnya.',
    },
    conflict: {
      title: 'Pembayaran ini sudah wujud dengan butiran lain',
      what: 'Sistem agensi pernah menghantar rujukan yang sama dengan amaun atau alamat lain.',
      todo: 'Kembali ke laman web agensi dan mulakan pembayaran semula. Tiada caj dikenakan.',
    },
    tooManyAttempts: {
      title: 'Pembayaran ini telah dicuba terlalu banyak kali',
      what: 'Ia tidak boleh dicuba lagi.',
      todo: 'Hubungi agensi, yang boleh memulakan pembayaran baharu. Jika wang telah keluar daripada akaun anda, sediakan pengesahan bank anda.',
    },
    tooLarge: {
      title: 'Permintaan ini terlalu besar',
      what: 'Data yang dihantar melebihi had yang kami terima.',
      todo: 'Kembali ke laman web agensi dan mulakan pembayaran semula.',
    },
    internal: {
      title: 'Berlaku masalah di pihak kami',
      what: 'Masalah ini telah direkodkan.',
      todo: 'Tunggu seketika, kemudian cuba lagi. Jika anda baru membayar, lihat resit anda sebelum membayar semula.',
    },
    unavailable: {
      title: 'Perkhidmatan tidak tersedia buat masa ini',
      what: 'Ia dijangka pulih tidak lama lagi.',
      todo: 'Tunggu beberapa minit, kemudian cuba lagi. Jika anda baru membayar, lihat resit anda sebelum membayar semula.',
    },
  },

  home: {
    title: 'Perkhidmatan pembayaran',
    what: 'Agensi awam menggunakan perkhidmatan ini untuk menerima bayaran. Anda sampai ke sini dari laman web agensi, yang menghantar anda untuk membayar dan membawa anda kembali dengan resit.',
    tryTitle: 'Cuba pembayaran pertama',
    tryRequest: 'Mulakan pembayaran sebagai agensi demonstrasi:',
    tryPay:
      'Buka payment_url dalam jawapan dengan pelayar, pilih kaedah, dan bayar di gerbang kotak pasir. Tiada wang sebenar terlibat.',
    gateway: 'Gerbang kotak pasir',
    more: 'Lihat juga',
    merchant: 'Panggilan balik yang diterima oleh pedagang kotak pasir',
    mailbox: 'E-mel yang dihantar',
    documentation: 'Dokumentasi',
  },
};
