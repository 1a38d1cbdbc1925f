import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'
import {
  type GraphQLArgument,
  type GraphQLFieldResolver,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLResolveInfo,
  getNullableType,
  isInputObjectType,
  isListType,
} from 'graphql'
import { InvalidInput, type Violation } from '../../domain/errors.ts'
import { forbiddenText } from '../../domain/parse.ts'

/**
 * Bounds of all arguments, checked before the resolver runs: no list is longer than its cap, and no text has what
 * PostgreSQL cannot store. They hold for literals and variables, over every transport. A violation is INVALID_INPUT
 * where the result has that member, else BAD_REQUEST. The entries of a bulk are not checked here: each is accepted or
 * refused by itself.
 */

interface Cap {
  itemsMax: number
  bulk: boolean
}

/** The options of a list: its cap, and the description that says it. */
export const atMost = (itemsMax: number, description: string) => capped({ itemsMax, bulk: false }, description)

/** The same for a list whose entries each get a result of their own. */
export const bulkOf = (itemsMax: number, description: string) => capped({ itemsMax, bulk: true }, description)

const capped = (cap: Cap, description: string) => ({
  description: `${description}. At most ${cap.itemsMax.toLocaleString('en-US')}.`,
  extensions: { cap },
})

export const capOf = ({ extensions }: Field): Cap | undefined => extensions['cap'] as Cap | undefined

type Field = GraphQLArgument | GraphQLInputField
type Resolver = GraphQLFieldResolver<unknown, object>

class BoundsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(resolver: Resolver, { kind, args }: PothosOutputFieldConfig<Types>): Resolver {
    return kind === 'Subscription' || Object.keys(args).length === 0 ? resolver : bounded(resolver)
  }

  override wrapSubscribe(subscriber: Resolver | undefined): Resolver | undefined {
    return subscriber && bounded(subscriber)
  }
}

const bounded =
  (resolver: Resolver): Resolver =>
  (parent, args, context, info) => {
    demandBounds(args, info)
    return resolver(parent, args, context, info)
  }

function demandBounds(given: Record<string, unknown>, { parentType, fieldName }: GraphQLResolveInfo): void {
  const declared = parentType.getFields()[fieldName]?.args ?? []
  // The path of a violation begins below `input`, as the domain's do.
  const found = declared.flatMap((arg) => breaches(arg, given[arg.name], arg.name === 'input' ? [] : [arg.name]))
  if (found.length > 0) throw new InvalidInput(found)
}

function breaches(field: Field, value: unknown, path: readonly string[]): Violation[] {
  const type = getNullableType(field.type)
  if (!isListType(type) || !Array.isArray(value)) return breachesOfOne(type, value, path)
  const { itemsMax = 0, bulk = false } = capOf(field) ?? {}
  if (value.length > itemsMax)
    return [{ path, message: `Must have at most ${itemsMax.toLocaleString('en-US')} entries, not ${value.length}` }]
  const itemType = getNullableType(type.ofType)
  return bulk ? [] : value.flatMap((item, index) => breachesOfOne(itemType, item, [...path, String(index)]))
}

function breachesOfOne(type: GraphQLInputType, value: unknown, path: readonly string[]): Violation[] {
  if (value === null || value === undefined) return []
  if (!isInputObjectType(type)) return forbiddenText(value, path)
  const fields = type.getFields()
  return Object.entries(value).flatMap(([name, given]) => {
    const field = fields[name]
    return field ? breaches(field, given, [...path, name]) : []
  })
}

declare global {
  namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      bounds: BoundsPlugin<Types>
    }
  }
}

SchemaBuilder.registerPlugin('bounds', BoundsPlugin)
