/** Reads violations of a spec: of rules of the server, or of types of the schema. Paths are relative to the spec. */

export interface Violation {
  /** The path in YAML: `labels.0.key`; empty: the whole spec. */
  path: string
  message: string
}

interface Problem {
  message: string
  violations?: readonly { path: readonly string[]; message: string }[]
}

/** Converts a problem of the API. A violation without a path in the spec gets the empty path. */
export function readViolations({ message, violations = [] }: Problem): Violation[] {
  if (violations.length === 0) return [{ path: '', message }]
  return violations.map(({ path, message: text }) => {
    const start = path.indexOf('spec')
    return { path: start === -1 ? '' : path.slice(start + 1).join('.'), message: text }
  })
}

const typeError = /Variable "\$input[^":]*?\.spec([^":]*)": ([\s\S]*?)(?=; Variable "\$input|$)/g

/** Reads violations from the message of a GraphQL error, which has a sentence with the path for each invalid value. */
export function readTypeErrors(message: string): Violation[] {
  return [...message.matchAll(typeError)].map(([, place = '', text = '']) => {
    const [, field] = text.match(/^Field "(\w+)" /) ?? []
    const parts = [...place.matchAll(/\.(\w+)|\[(\d+)\]/g)].map(([, name, index]) => name ?? index ?? '')
    return { path: [...parts, ...(field === undefined ? [] : [field])].join('.'), message: toPlainWords(text) }
  })
}

const expected: Readonly<Record<string, string>> = {
  Int: 'a whole number',
  Float: 'a number',
  UInt53: 'a whole number',
  String: 'a text; write it in quotes',
  ID: 'an id',
  Boolean: 'true or false',
}

/** Rewrites a message of the GraphQL library for users of the form. */
function toPlainWords(text: string): string {
  const [, type = '', given] = text.match(/^(\w+) cannot represent .*?: ([\s\S]*)$/) ?? []
  if (expected[type]) return `Must be ${expected[type]} (given: ${given})`
  if (/^Field "\w+" is not defined/.test(text)) return 'This field does not exist'
  if (/^Field "\w+" of required type/.test(text)) return 'Must be given'
  const [, value] = text.match(/^Value (.*) does not exist in/) ?? []
  return value === undefined ? text : `${value} is not one of the values`
}
