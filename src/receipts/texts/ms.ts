// What a receipt says in Malay.
import type { ReceiptTexts } from './en.ts';

export const ms: ReceiptTexts = {
  statuses: {
    success: 'Berjaya',
    failed: 'Gagal',
    cancelled: 'Dibatalkan',
    pending: 'Menunggu Pengesahan',
    requested: 'Menunggu bayaran',
    partlyPaid: 'Dibayar sebahagian',
  },
  modes: {
    fpx: 'Perbankan Internet (Individu)',
    fpx1: 'Perbankan Internet (Korporat)',
    cc: 'Kad Kredit',
    dc: 'Kad Debit',
    dnqr: 'DuitNow QR',
    wallet: 'e-Dompet',
  },

  service: 'Perkhidmatan',
  description: 'Perihal',
  reference: 'No. rujukan',
  payer: 'Pembayar',
  personalData: {
    erased: 'Data peribadi telah dipadamkan',
    erasedOn: (date) => `Data peribadi telah dipadamkan pada ${date}`,
    unavailable: 'Tidak dapat dipaparkan buat masa ini',
  },
  item: 'Perkara',
  amount: 'Amaun',
  fee: 'Caj',
  total: 'Jumlah',
  method: 'Kaedah pembayaran',
  bank: 'Bank',

  receipt: {
    official: 'Resit rasmi',
    statement: 'Penyata pembayaran',
    notReceipt: 'Ini bukan resit.',
    explanations: {
      success: 'Pembayaran telah diterima. Simpan resit ini untuk rekod anda.',
      failed:
        'Pembayaran tidak berjaya. Tiada bayaran diterima. Jika wang telah ditolak daripada akaun anda, hubungi agensi sebelum membayar semula.',
      cancelled: 'Pembayaran telah dibatalkan. Tiada bayaran diterima.',
      pending:
        'Bank belum mengesahkan pembayaran. Akaun korporat mungkin masih memerlukan pelulus. Jangan bayar semula: halaman resit menunjukkan keputusan sebaik sahaja diketahui.',
      requested:
        'Kami belum menerima sebarang keputusan. Jika anda baru membayar, tunggu seketika dan semak semula. Jangan bayar dua kali.',
      partlyPaid:
        'Sebahagian daripada amaun telah diterima. Bakinya masih perlu dibayar di halaman pembayaran.',
    },
    asAt: (time) =>
      `Ini ialah rekod setakat ${time}. Perkara selepas itu tidak dapat dipaparkan buat masa ini: sila semak semula dalam beberapa minit.`,
    payee: 'Penerima',
    receiptNo: 'No. resit',
    dateTime: 'Tarikh dan masa',
    icNo: 'No. kad pengenalan',
    transactionId: 'ID transaksi',
    fpxNo: 'No. FPX',
    orderNo: 'No. pesanan penjual',
    details: 'Butiran',
    amounts: 'Amaun',
    history: 'Sejarah',
  },

  history: {
    requested: 'Pembayaran diminta',
    methodChosen: (method) => `${method} dipilih`,
    success: 'Pembayaran berjaya',
    lateSuccess: 'Pembayaran disahkan selepas percubaan terdahulu tamat',
    failed: 'Percubaan gagal',
    cancelled: 'Percubaan dibatalkan',
    pending: 'Menunggu pengesahan bank',
    amountMismatch: 'Pembayaran dengan amaun lain dilaporkan; kakitangan akan menyemaknya',
    duplicate: 'Pembayaran kedua dilaporkan; kakitangan akan menyemak bayaran balik',
    credited: 'Agensi menerima amaun yang dibayar',
    reversed: 'Bank mengambil semula bayaran',
    refunded: 'Bayaran balik telah dibuat',
  },

  notes: {
    credited: (amount) =>
      `Amaun yang diminta ialah ${amount}. Agensi telah menerima amaun yang dibayar sebagai bayaran penuh.`,
    partlyPaid: (amount, outstanding) => `${amount} telah diterima. Baki ${outstanding} masih perlu dibayar.`,
    reversed: (date, amount) =>
      `Pembayaran diterbalikkan pada ${date}: pihak bank telah mengambil semula ${amount}.`,
    refunded: (date, amount, reference) =>
      `Dibayar balik pada ${date}: ${amount}${reference && `, rujukan ${reference}`}.`,
  },

  email: {
    attached: 'Pembayaran anda telah diterima. Resit rasmi dilampirkan sebagai PDF.',
    open: 'Buka resit',
    otherLanguage: 'This receipt in English',
    note: 'E-mel ini dihantar secara automatik; balasan tidak dibaca. Jika anda tidak membuat pembayaran ini, hubungi agensi. Kami tidak sekali-kali meminta kata laluan perbankan atau kod sekali guna anda.',
  },

  pdf: {
    amountInWords: 'Jumlah dalam perkataan',
    verify: 'Semak resit ini',
    scan: 'Imbas kod, atau buka alamat ini. Halaman itu mengesahkan nombor, amaun, tarikh dan status.',
    codeOf: (url) => `Kod QR bagi ${url}`,
    computerGenerated: 'Dokumen ini dijana oleh komputer dan tidak memerlukan tandatangan.',
    page: (page, pages) => `Halaman ${page} daripada ${pages}`,
  },
};
