/** Quotes an argument for a shell, if necessary. */
export const quoteShell = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
