/** Removes insignificant white space from a GraphQL document. The documents of the console contain no strings. */
export const shortenDocument = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/ ?([{}()[\],:=|!]) ?/g, '$1')
    .trim()

/** A Vite plug-in. Documents are a seventh of the JavaScript that the browser loads first. */
export const minifyDocuments = {
  name: 'short-documents',
  enforce: 'pre',
  transform: (code: string, id: string) =>
    id.endsWith('/generated/graphql.ts')
      ? code.replace(/`[^`]*`/g, (text) => `\`${shortenDocument(text.slice(1, -1))}\``)
      : null,
} as const
