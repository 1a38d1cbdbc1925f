/** The text of a GraphQL document without white space that has no meaning. The documents of the console have no strings. */
export const shortenDocument = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/ ?([{}()[\],:=|!]) ?/g, '$1')
    .trim()

/** A plug-in of Vite: documents are a seventh of the first JavaScript. */
export const shortDocuments = {
  name: 'short-documents',
  enforce: 'pre',
  transform: (code: string, id: string) =>
    id.endsWith('/generated/graphql.ts')
      ? code.replace(/`[^`]*`/g, (text) => `\`${shortenDocument(text.slice(1, -1))}\``)
      : null,
} as const
