import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { type InputField, inputTypes } from '../../generated/spec-fields.ts'

/** Finds the object type at the cursor from the less indented keys above the line; null: not an object of the spec. */
export function findType(linesAbove: readonly string[], indent: number): string | null {
  const keys: string[] = []
  let depth = indent
  for (const line of linesAbove.toReversed()) {
    const [, space = '', key] = line.match(/^((?: |- )*)(\w+):/) ?? []
    if (key === undefined || space.length >= depth) continue
    keys.unshift(key)
    depth = space.length
  }
  let type: string | null = 'JobSpecInput'
  for (const key of keys) {
    const name: string | undefined = type === null ? undefined : inputTypes[type]?.[key]?.type.replace(/[[\]!]/g, '')
    type = name !== undefined && inputTypes[name] ? name : null
  }
  return type
}

const listValues = ({ type, values }: InputField): readonly string[] =>
  values ?? (type === 'Boolean' ? ['true', 'false'] : [])

/** Completes field names, enum values and queue names. */
export const completeSpec =
  (names: (field: string) => readonly string[]) =>
  ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const line = state.doc.lineAt(pos)
    const before = line.text.slice(0, pos - line.from)
    const above = Array.from({ length: line.number - 1 }, (_, i) => state.doc.line(i + 1).text)
    const [, space = '', word] = before.match(/^((?: |- )*)(\w*)$/) ?? []
    if (word !== undefined) {
      const type = findType(above, space.length)
      if (type === null || (word === '' && !explicit)) return null
      const options = Object.entries(inputTypes[type] ?? {}).map(([label, { help, type: detail }]) => ({
        label,
        detail,
        info: help,
        apply: `${label}: `,
      }))
      return { from: pos - word.length, options, validFor: /^\w*$/ }
    }
    const [, indent = '', key = '', value] = before.match(/^((?: |- )*)(\w+): +(\S*)$/) ?? []
    const field = value === undefined ? undefined : inputTypes[findType(above, indent.length) ?? '']?.[key]
    if (field === undefined || value === undefined) return null
    const options = [...listValues(field), ...names(key)].map((label) => ({ label }))
    return options.length === 0 ? null : { from: pos - value.length, options }
  }
