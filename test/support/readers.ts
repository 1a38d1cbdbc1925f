import type { CallExpression } from 'typescript/unstable/ast'
import { type Checker, type Type, TypeFlags } from 'typescript/unstable/sync'

/** Members of a row that the caller declares, for each form of the row; empty: the caller declares no members. */
export type Reader = readonly ReadonlyMap<string, Member>[]

export interface Member {
  isOptional: boolean
  /** Names of its possible types. */
  types: ReadonlySet<string>
}

/** The row type that a call of `query` declares. */
export function findReader(checker: Checker, call: CallExpression): Reader {
  const promised = checker.getTypeAtLocation(call)
  const rows = promised && argumentOf(checker, promised)
  const row = rows && argumentOf(checker, rows)
  if (!row) throw new Error('its rows have no type')
  const forms = row.isUnionType() ? row.getTypes() : [row]
  return forms.flatMap((form) => membersOf(checker, form) ?? [])
}

const argumentOf = (checker: Checker, type: Type): Type | undefined =>
  type.isTypeReference() ? checker.getTypeArguments(type)[0] : undefined

function membersOf(checker: Checker, form: Type): ReadonlyMap<string, Member> | undefined {
  if (isAnything(form) || checker.getIndexInfosOfType(form).length > 0) return undefined
  return new Map(
    checker.getPropertiesOfType(form).map((property) => {
      const type = checker.getTypeOfSymbol(property)
      const parts = type?.isUnionType() ? type.getTypes() : type ? [type] : []
      const types = new Set(parts.map((part) => typeName(checker, part)))
      types.delete('null')
      return [property.name, { isOptional: types.delete('undefined'), types }]
    }),
  )
}

const isAnything = ({ flags }: Type) => (flags & (TypeFlags.Any | TypeFlags.Unknown)) !== 0

function typeName(checker: Checker, type: Type): string {
  if (isAnything(type)) return 'anything'
  if (type.isLiteralType()) return typeof type.value
  return checker.isArrayLikeType(type) ? 'array' : checker.typeToString(type).replace(/<.*/s, '')
}
