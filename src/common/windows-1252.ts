const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
/** The character of each byte in Windows-1252, which has all letters of ISO-8859-1 in the same places. */
export const windows1252 = new TextDecoder('windows-1252').decode(bytes);
