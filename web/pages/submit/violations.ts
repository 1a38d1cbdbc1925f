/** The refusals of a spec: by rules of the server, or by the types of the schema. Paths begin at the spec. */

export interface Violation {
  /** As in YAML: `labels.0.key`; empty: the whole spec. */
  path: string
  message: string
}

interface Problem {
  message: string
  violations?: readonly { path: readonly string[]; message: string }[]
}

/** Violations with an empty path are about the whole spec. */
export function readViolations({ message, violations = [] }: Problem): Violation[] {
  if (violations.length === 0) return [{ path: '', message }]
  return violations.map(({ path, message: text }) => {
    const start = path.indexOf('spec')
    return { path: start === -1 ? '' : path.slice(start + 1).join('.'), message: text }
  })
}

const typeError = /Variable "\$input[^":]*?\.spec([^":]*)": ([\s\S]*?)(?=; Variable "\$input|$)/g

/** Values that the schema does not allow are refused by one sentence for each, which names the path. */
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

/** The sentences of the schema in the words of a form. */
function toPlainWords(text: string): string {
  const [, type = '', given] = text.match(/^(\w+) cannot represent .*?: ([\s\S]*)$/) ?? []
  if (expected[type]) return `Must be ${expected[type]} (given: ${given})`
  if (/^Field "\w+" is not defined/.test(text)) return 'This field does not exist'
  if (/^Field "\w+" of required type/.test(text)) return 'Must be given'
  const [, value] = text.match(/^Value (.*) does not exist in/) ?? []
  return value === undefined ? text : `${value} is not one of the values`
}
