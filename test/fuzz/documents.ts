import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import type { Random } from '../../simulate/random.ts'
import { formatLiteral, type Known, randomValue } from './values.ts'

/** Random documents of a schema, which are syntactically valid, with values that may be invalid. */
export interface Asked {
  kind: 'query' | 'mutation' | 'subscription'
  query: string
  variables: Record<string, unknown>
}

const depthMax = 7
const fieldsMax = 5
const rootFieldsMax = 3

export function randomDocument(schema: GraphQLSchema, random: Random, known: Known): Asked {
  const kind = random.chance(0.05) ? 'subscription' : random.chance(0.4) ? 'mutation' : 'query'
  const root = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  }
  const writer = new Writer(schema, random, known)
  const roots = kind === 'subscription' ? 1 : random.between(1, rootFieldsMax)
  return writer.operation(kind, root[kind] as GraphQLObjectType, roots)
}

class Writer {
  readonly #schema: GraphQLSchema
  readonly #random: Random
  readonly #known: Known
  readonly #declared: string[] = []
  readonly #fragments: string[] = []
  readonly #variables: Record<string, unknown> = {}
  #names = 0

  constructor(schema: GraphQLSchema, random: Random, known: Known) {
    this.#schema = schema
    this.#random = random
    this.#known = known
  }

  operation(kind: Asked['kind'], root: GraphQLObjectType, roots: number): Asked {
    const fields = Object.values(root.getFields())
    const selections = Array.from({ length: roots }, () =>
      this.#field(this.#random.pick(fields) as GraphQLField<unknown, unknown>, 0),
    )
    const head = this.#declared.length > 0 ? `(${this.#declared.join(', ')})` : ''
    const query = [`${kind} ${head} { ${selections.join(' ')} }`, ...this.#fragments].join('\n')
    if (this.#random.chance(0.03)) this.#variables['unknown'] = Array(500).fill('x')
    return { kind, query, variables: this.#variables }
  }

  /** Uses a new alias: two fields with the same name in the response must have the same arguments. */
  #name = (letter: string) => `${letter}${this.#names++}`

  #field(field: GraphQLField<unknown, unknown>, depth: number): string {
    const args = field.args
      .filter((arg) => (isNonNullType(arg.type) && arg.defaultValue === undefined) || this.#random.chance(0.3))
      .map((arg) => `${arg.name}: ${this.#argument(arg)}`)
    const alias = depth === 0 || args.length > 0 ? `${this.#name('a')}: ` : ''
    const below = this.#below(field.type, depth + 1)
    return `${alias}${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''}${this.#directive(depth)}${below}`
  }

  #argument(arg: GraphQLArgument): string {
    const value = randomValue(arg.type, this.#random, this.#known)
    const literal = this.#random.chance(0.4) ? formatLiteral(arg.type, value) : null
    if (literal !== null && literal.length < 20_000) return literal
    const name = this.#name('v')
    this.#declared.push(`$${name}: ${arg.type}`)
    if (isNonNullType(arg.type) || this.#random.chance(0.95)) this.#variables[name] = value
    return `$${name}`
  }

  #directive(depth: number): string {
    if (depth === 0 || !this.#random.chance(0.05)) return ''
    const name = this.#random.chance(0.5) ? 'include' : 'skip'
    if (this.#random.chance(0.5)) return ` @${name}(if: ${this.#random.chance(0.5)})`
    const variable = this.#name('v')
    this.#declared.push(`$${variable}: Boolean!`)
    this.#variables[variable] = this.#random.chance(0.5)
    return ` @${name}(if: $${variable})`
  }

  #below(type: GraphQLOutputType, depth: number): string {
    const named = getNamedType(type)
    return isCompositeType(named) ? ` { ${this.#selections(named, depth).join(' ')} }` : ''
  }

  #selections(type: ReturnType<typeof getNamedType>, depth: number): string[] {
    if (isAbstractType(type)) return ['__typename', ...this.#members(type.name, depth)]
    if (!isObjectType(type)) return ['__typename']
    const fields = Object.values(type.getFields()).filter(
      (field) => depth < depthMax || !isCompositeType(getNamedType(field.type)),
    )
    const count = this.#random.between(1, fieldsMax)
    const chosen = new Set(Array.from({ length: count }, () => this.#random.pick(fields)))
    return ['__typename', ...[...chosen].flatMap((field) => (field ? [this.#field(field, depth)] : []))]
  }

  /** Some of its possible types as fragments, each type once, because fields of two fragments might not merge. */
  #members(name: string, depth: number): string[] {
    const type = this.#schema.getType(name)
    const members = isAbstractType(type) ? this.#schema.getPossibleTypes(type) : []
    const member = this.#random.pick(members)
    if (!member) return []
    const selections = this.#selections(member, depth).join(' ')
    if (this.#random.chance(0.6)) return [`... on ${member.name} { ${selections} }`]
    const fragment = this.#name('f')
    this.#fragments.push(`fragment ${fragment} on ${member.name} { ${selections} }`)
    return [`...${fragment}`]
  }
}
