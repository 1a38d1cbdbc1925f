import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql'
import { schema } from '../schema/schema.ts'

/** `npm run schema` writes docs/schema.md: every type of the schema with its fields and what they mean, for people. */

const cell = (text: string | null | undefined) => (text ?? '').replace(/\s+/g, ' ').replaceAll('|', '\\|')
const row = (...cells: (string | null | undefined)[]) => `| ${cells.map(cell).join(' | ')} |`

interface Described {
  name: string
  description?: string | null | undefined
  type?: unknown
  args?: readonly Described[]
  deprecationReason?: string | null | undefined
}

function fieldRow({ name, description, type, args = [], deprecationReason }: Described): string {
  const taken = args.map((arg) => `\`${arg.name}: ${String(arg.type)}\` ${arg.description ?? ''}`).join('<br>')
  const told = `${description ?? ''}${deprecationReason ? ` **Deprecated:** ${deprecationReason}` : ''}`
  return row(`\`${name}\``, `\`${String(type)}\``, taken ? `${told}<br>${taken}` : told)
}

function body(type: GraphQLNamedType): string[] {
  if (isUnionType(type))
    return [
      `One of ${type
        .getTypes()
        .map(({ name }) => `\`${name}\``)
        .join(', ')}.`,
    ]
  if (isEnumType(type))
    return [
      '| value | |',
      '|---|---|',
      ...type.getValues().map(({ name, description }) => row(`\`${name}\``, description)),
    ]
  if (!(isObjectType(type) || isInterfaceType(type) || isInputObjectType(type))) return []
  return ['| field | type | |', '|---|---|---|', ...Object.values(type.getFields()).map((field) => fieldRow(field))]
}

function kindOf(type: GraphQLNamedType): string {
  if (isInputObjectType(type)) return 'input'
  if (isEnumType(type)) return 'enum'
  if (isUnionType(type)) return 'union'
  if (isScalarType(type)) return 'scalar'
  return isInterfaceType(type) ? 'interface' : 'type'
}

export function schemaReference(): string {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap(
    (type) => type ?? [],
  )
  const others = Object.values(schema.getTypeMap()).filter(
    (type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type) && !roots.some((root) => root === type),
  )
  const parts = [...roots, ...others].flatMap((type) => [
    '',
    `## ${kindOf(type)} ${type.name}`,
    '',
    ...(type.description ? [cell(type.description), ''] : []),
    ...body(type),
  ])
  const head = [
    '# Reference of the schema',
    '',
    'Made of the schema by `npm run schema`; do not edit. The same in GraphQL: [schema.graphql](../schema.graphql).',
  ]
  return `${[...head, ...parts]
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()}\n`
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '../../..')
  writeFileSync(join(root, 'docs/schema.md'), schemaReference())
}
