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
    wrongAmount: 'Amaun berbeza diterima',
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
  unknownAmount: 'amaun yang tidak diketahui',
  ago: (minutes) => (minutes === 0 ? 'sebentar tadi' : `${minutes} minit yang lalu`),
  on: (time) => `pada ${time}`,
  item: 'Perkara',
  amount: 'Amaun',
  fee: 'Caj',
  total: 'Jumlah',
  method: 'Kaedah pembayaran',
  bank: 'Bank',

  receipt: {
    headings: {
      partlyPaid: 'Sebahagian daripada amaun telah dibayar',
      success: 'Resit rasmi',
      failed: 'Pembayaran tidak berjaya',
      cancelled: 'Pembayaran dibatalkan',
      pending: 'Bank belum mengesahkan pembayaran',
      requested: 'Belum ada pembayaran yang disahkan',
      wrongAmount: 'Kami menerima amaun yang berbeza',
    },
    notReceipt: 'Ini bukan resit.',
    explanations: {
      success: 'Pembayaran telah diterima. Simpan resit ini untuk rekod anda.',
      failed:
        'Tiada bayaran diterima. Anda boleh cuba lagi, dengan kaedah pembayaran lain jika mahu. Jika wang telah ditolak daripada akaun anda, jangan bayar semula dahulu: hubungi agensi terlebih dahulu.',
      cancelled:
        'Tiada bayaran diterima. Anda masih boleh membayar. Jika wang telah ditolak daripada akaun anda, hubungi agensi terlebih dahulu.',
      pending:
        'Akaun korporat mungkin masih memerlukan pelulus. Jangan bayar semula: halaman resit menunjukkan keputusan sebaik sahaja diketahui.',
      requested: 'Jika anda baru membayar, tunggu seketika dan semak semula. Jangan bayar dua kali.',
      partlyPaid:
        'Sebahagian daripada amaun telah diterima. Bakinya masih perlu dibayar di halaman pembayaran.',
      wrongAmount: 'Jangan bayar semula. Jika anda menghubungi agensi, berikan nombor rujukan di bawah.',
    },
    asAt: (time) =>
      `Ini ialah rekod setakat ${time}. Perkara selepas itu tidak dapat dipaparkan buat masa ini: sila semak semula dalam beberapa minit.`,
    payee: 'Penerima',
    receiptNo: 'No. resit',
    dateTime: 'Tarikh dan masa',
    icNo: 'No. kad pengenalan',
    transactionId: 'ID transaksi',
    fpxNo: 'No. FPX',
    gatewayNo: 'No. gerbang pembayaran',
    asked: 'Amaun yang diminta',
    received: 'Amaun diterima',
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
    cancelledByPayer: 'Dibatalkan oleh pembayar',
    pending: 'Menunggu pengesahan bank',
    amountMismatch: (amount) => `${amount} diterima, berbeza daripada amaun yang diminta`,
    duplicate: (amount) => `Caj tambahan sebanyak ${amount} diterima`,
    refunded: (amount) => `${amount} dikembalikan kepada pembayar`,
    credited: (amount) => `${amount} dikreditkan kepada agensi`,
    explained: (amount) => `Laporan mengenai ${amount} telah disemak dan ditutup`,
    reversed: (amount) => `${amount} diambil semula oleh pihak bank`,
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

  otherCharges: {
    wrongAmount: (received, asked) => `Kami menerima ${received} dan bukan ${asked}.`,
    furtherCharge: (received) => `Anda telah dicaj sekali lagi: kami menerima ${received} lagi.`,
    openWrongAmount: 'Wang ini akan dikreditkan kepada agensi atau dikembalikan kepada anda.',
    openFurtherCharge: 'Wang ini akan dikembalikan kepada anda.',
    credited: (date) => `Wang ini telah dikreditkan kepada agensi pada ${date}.`,
    refunded: (date) => `Wang ini telah dikembalikan kepada anda pada ${date}.`,
    explained: (date) => `Kakitangan telah menyemak laporan ini dan menutupnya pada ${date}.`,
  },

  email: {
    attached: 'Pembayaran anda telah diterima. Resit rasmi dilampirkan sebagai PDF.',
    notice: 'Mengenai pembayaran anda',
    open: 'Buka resit',
    openPayment: 'Lihat status pembayaran',
    otherLanguage: 'In English',
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
