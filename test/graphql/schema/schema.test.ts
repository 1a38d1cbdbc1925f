import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import {
  type GraphQLArgument,
  type GraphQLNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
  isUnionType,
  parse,
  validate,
} from 'graphql'
import { describe, expect, it } from 'vitest'
import { printPublishedSchema } from '../../../src/graphql/published/print.ts'
import { schema } from '../../../src/graphql/schema/schema.ts'
import { renderGraphiql, tour } from '../../../src/graphql/transport/graphiql.ts'
import { root } from '../../support/sources.ts'

const types = Object.values(schema.getTypeMap()).filter(
  ({ name }) => !name.startsWith('__') && !['Boolean', 'Float', 'ID', 'Int', 'String'].includes(name),
)

const argumentsOf = (field: object): readonly GraphQLArgument[] =>
  'args' in field ? (field.args as GraphQLArgument[]) : []

/** Lists the members of a type without a description. */
function undescribed(type: GraphQLNamedType): string[] {
  const own = type.description ? [] : [type.name]
  if (isEnumType(type)) {
    const values = type.getValues().filter(({ description }) => !description)
    return [...own, ...values.map(({ name }) => `${type.name}.${name}`)]
  }
  if (!(isObjectType(type) || isInterfaceType(type) || isInputObjectType(type))) return own
  const fields = Object.values(type.getFields()).flatMap((field) => [
    ...(field.description ? [] : [`${type.name}.${field.name}`]),
    ...argumentsOf(field)
      .filter((arg) => !arg.description)
      .map((arg) => `${type.name}.${field.name}(${arg.name})`),
  ])
  return [...own, ...fields]
}

const articles = ['a', 'an', 'the', 'of', 'in', 'for', 'is', 'to', 'and', 'or']

/** The words of a name or a sentence, in lower case and the singular. */
const splitWords = (text: string): string[] =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/s$/, ''))

describe('the schema', () => {
  it('equals schema.graphql', () => {
    expect(readFileSync(join(root, 'schema.graphql'), 'utf8')).toBe(printPublishedSchema())
  })

  it('describes every type, field, argument, input field and enum value', () => {
    expect(types.flatMap(undescribed)).toEqual([])
  })

  it('describes every field by more than the words of its name', () => {
    const fields = types.flatMap((type) =>
      isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
        ? Object.values(type.getFields()).map(({ name, description }) => ({
            name: `${type.name}.${name}`,
            own: splitWords(isInputObjectType(type) ? name : `${type.name} ${name}`),
            description,
          }))
        : [],
    )
    const repeats = fields.filter(({ own, description }) =>
      splitWords(description ?? '').every((word) => own.includes(word) || articles.includes(word)),
    )
    expect(repeats.map(({ name }) => name)).toEqual([])
  })

  it('follows one naming convention for types, fields, values, inputs and results', () => {
    const wrong = types.flatMap((type) => [
      ...(/^[A-Z]\w*$/.test(type.name) ? [] : [type.name]),
      ...(isEnumType(type) ? type.getValues().filter(({ name }) => !/^[A-Z][A-Z0-9_]*$/.test(name)) : []).map(String),
      ...(isObjectType(type) || isInputObjectType(type) ? Object.keys(type.getFields()) : []).filter(
        (name) => !/^[a-z][A-Za-z0-9]*$/.test(name),
      ),
    ])
    expect(wrong).toEqual([])
    const verbs = Object.values(schema.getMutationType()?.getFields() ?? {})
    expect(verbs.length).toBeGreaterThan(30)
    for (const { name, args, type } of verbs) {
      const capital = name.charAt(0).toUpperCase() + name.slice(1)
      expect(args.map((arg) => `${arg.name}: ${arg.type}`)).toEqual([`input: ${capital}Input!`])
      expect(String(type)).toBe(`${capital}Result!`)
    }
  })

  it('gives a field the same type in all members of a union, so that documents need no aliases', () => {
    const conflicts = types.filter(isUnionType).flatMap((union) => {
      const seen = new Map<string, string>()
      return union.getTypes().flatMap((member) =>
        Object.values(member.getFields()).flatMap(({ name, type }) => {
          const known = seen.get(name) ?? String(type)
          seen.set(name, known)
          return known === String(type) ? [] : [`${union.name}.${name}: ${known}, ${type}`]
        }),
      )
    })
    expect(conflicts).toEqual([])
  })

  it('does not state the maximum length of a list twice', () => {
    expect(printPublishedSchema().match(/at most [\d,]+\. At most [\d,]+\./gi)).toBe(null)
  })

  it('states the maximum length of every list', () => {
    const lists = types.filter(isObjectType).flatMap((type) =>
      Object.values(type.getFields())
        .filter((field) => isListType(getNullableType(field.type)) && !type.name.endsWith('Connection'))
        .map((field) => ({ name: `${type.name}.${field.name}`, description: field.description ?? '' })),
    )
    expect(lists.length).toBeGreaterThan(50)
    expect(lists.filter(({ description }) => !/at most [\d,]+/i.test(description)).map(({ name }) => name)).toEqual([])
  })

  it('names a replacement and a date of removal for every deprecated field', () => {
    const deprecated = types.flatMap((type) =>
      isObjectType(type)
        ? Object.values(type.getFields()).flatMap(({ deprecationReason }) => deprecationReason ?? [])
        : [],
    )
    for (const reason of deprecated) expect(reason).toMatch(/`\w+`.*\d{4}-\d{2}-\d{2}/)
  })

  it('has the same fields of paging in every connection', () => {
    const connections = types.filter((type) => isObjectType(type) && type.name.endsWith('Connection'))
    expect(connections.length).toBeGreaterThan(3)
    for (const connection of connections)
      if (isObjectType(connection)) {
        const { edges, nodes, pageInfo, totalCount, isTotalExact } = connection.getFields()
        expect(String(edges?.type)).toMatch(/^\[\w+Edge!\]!$/)
        expect(String(nodes?.type)).toMatch(/^\[\w+!\]!$/)
        expect(String(pageInfo?.type)).toBe('PageInfo!')
        expect([String(totalCount?.type), String(isTotalExact?.type)]).toEqual(['Int!', 'Boolean!'])
      }
  })
})

describe('GraphiQL', () => {
  it('loads nothing from other origins', async () => {
    const { headers } = await renderGraphiql(false)
    const policy = headers['content-security-policy'] ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toMatch(/script-src( 'sha256-[A-Za-z0-9+/=]+'){3};/)
    expect(policy).not.toMatch(/https?:|unsafe-eval|\*/)
  })

  it('starts with valid example operations, whose lines fit into 1280 px', () => {
    expect(validate(schema, parse(tour)).map(({ message }) => message)).toEqual([])
    expect(Math.max(...tour.split('\n').map((line) => line.length))).toBeLessThan(50)
  })

  it('shows variables and the previous tab, and asks for a token if the server has users', async () => {
    const [alone, shared] = await Promise.all(
      [true, false].map(async (singleUser) => String(gunzipSync((await renderGraphiql(singleUser)).gzipped))),
    )
    for (const html of [alone, shared]) expect(html).toContain("localStorage.setItem('graphiql:' + name")
    expect(alone).not.toContain('berth-token')
    expect(shared).toContain('id="berth-token"')
    expect(shared).toContain("sessionStorage.setItem('berth-token'")
    expect(shared).toContain('"shouldPersistHeaders":false')
  })
})
