/** Removes insignificant white space from a GraphQL document. The documents of the console contain no strings. */
export const shortenDocument = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/ ?([{}()[\],:=|!]) ?/g, '$1')
    .trim()

const generated = 'generated/graphql.ts'
const imports = new RegExp(`import \\{([^}]*)\\} from '([^']*${generated})'`, 'g')

/** Imports each document from a module of its own: `graphql.ts?JobsDocument`. */
const divideImport = (_: string, names: string, path: string): string => {
  const all = names.split(',').flatMap((name) => name.trim() || [])
  const documents = all.filter((name) => /^\w+Document$/.test(name))
  const others = all.filter((name) => !documents.includes(name))
  return [
    `import { ${others.join(', ')} } from '${path}'`,
    ...documents.map((name) => `import { ${name} } from '${path}?${name}'`),
  ].join('; ')
}

/** Cuts the module of one document out of the generated file. */
function cutDocument(file: string, name: string): string {
  const start = file.indexOf(`export const ${name} `)
  const [text = ''] = /`[^`]*`/.exec(file.slice(start)) ?? []
  return `import { TypedDocumentString } from './graphql.ts'
export const ${name} = /*#__PURE__*/ new TypedDocumentString(\`${shortenDocument(text.slice(1, -1))}\`)`
}

/**
 * A Vite plug-in. Loads each document with the page that sends it: together they are a seventh of the JavaScript that
 * the browser would load first.
 */
export const bundleDocuments = {
  name: 'bundle-documents',
  enforce: 'pre',
  transform: (code: string, id: string) => {
    const [path = '', name] = id.split('?')
    if (path.endsWith(`/${generated}`) && name?.endsWith('Document')) return cutDocument(code, name)
    return code.includes(generated) ? code.replace(imports, divideImport) : null
  },
} as const
