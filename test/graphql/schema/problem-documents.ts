import { getNamedType, isObjectType, isUnionType } from 'graphql'
import { schema } from '../../../src/graphql/schema/schema.ts'

/** A mutation, or `previewJob`, with a document that reads its problems. */
export interface Verb {
  name: string
  document: string
  members: string[]
}

const { previewJob } = schema.getQueryType()?.getFields() ?? {}
const fields = [...Object.values(schema.getMutationType()?.getFields() ?? {}), ...(previewJob ? [previewJob] : [])]

export const verbs: Verb[] = fields.map((field) => {
  const type = getNamedType(field.type)
  if (!isUnionType(type)) throw new Error(`${field.name} does not return a union`)
  const success = type.getTypes().find(({ name }) => name.endsWith('Success'))
  const results = success?.getFields()['results']
  const item = getNamedType(results?.type)
  const result = isObjectType(item) ? item.getFields()['result'] : undefined
  const union = result ? getNamedType(result.type) : (item ?? type)
  if (!isUnionType(union)) throw new Error(`The results of ${field.name} are not a union`)
  const members = union.getTypes().flatMap(({ name }) => name.match(/^(\w+)Problem$/)?.[1] ?? [])
  const wanted = '__typename ... on Problem { code message retryable }'
  const declared = field.args.map((arg) => `$${arg.name}: ${arg.type}`).join(', ')
  const given = field.args.map((arg) => `${arg.name}: $${arg.name}`).join(', ')
  const kind = field === previewJob ? 'query' : 'mutation'
  const each = result ? `result { ${wanted} }` : wanted
  const selected = results ? `${wanted} ... on ${success?.name} { results { ${each} } }` : wanted
  return { name: field.name, members, document: `${kind} (${declared}) { ${field.name}(${given}) { ${selected} } }` }
})
