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
import { findForbiddenText } from '../../domain/parse.ts'

/**
 * Checks the length of each list, and texts that PostgreSQL cannot store, before the resolver runs. A violation is
 * returned as INVALID_INPUT if the result type has that member, else as the error BAD_REQUEST. In bulk mutations each
 * entry is accepted or refused separately.
 */

interface Cap {
  itemsMax: number
  bulk: boolean
}

/** Makes the options of a list argument with at most `itemsMax` items. */
export const capList = (itemsMax: number, description: string) => describeCap({ itemsMax, bulk: false }, description)

/** Makes the options of a list argument of a bulk mutation, where each entry gets its own result. */
export const capBulk = (itemsMax: number, description: string) => describeCap({ itemsMax, bulk: true }, description)

const describeCap = (cap: Cap, description: string) => ({
  description: `${description}. At most ${cap.itemsMax.toLocaleString('en-US')}.`,
  extensions: { cap },
})

export const readListCap = ({ extensions }: Field): Cap | undefined => extensions['cap'] as Cap | undefined

type Field = GraphQLArgument | GraphQLInputField
type Resolver = GraphQLFieldResolver<unknown, object>

class BoundsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(resolver: Resolver, { kind, args }: PothosOutputFieldConfig<Types>): Resolver {
    return kind === 'Subscription' || Object.keys(args).length === 0 ? resolver : checkFirst(resolver)
  }

  override wrapSubscribe(subscriber: Resolver | undefined): Resolver | undefined {
    return subscriber && checkFirst(subscriber)
  }
}

const checkFirst =
  (resolver: Resolver): Resolver =>
  (parent, args, context, info) => {
    demandBounds(args, info)
    return resolver(parent, args, context, info)
  }

function demandBounds(given: Record<string, unknown>, { parentType, fieldName }: GraphQLResolveInfo): void {
  const declared = parentType.getFields()[fieldName]?.args ?? []
  // Paths of violations omit `input`, as in the domain.
  const found = declared.flatMap((arg) => findViolations(arg, given[arg.name], arg.name === 'input' ? [] : [arg.name]))
  if (found.length > 0) throw new InvalidInput(found)
}

function findViolations(field: Field, value: unknown, path: readonly string[]): Violation[] {
  const type = getNullableType(field.type)
  if (!isListType(type) || !Array.isArray(value)) return findItemViolations(type, value, path)
  const { itemsMax = 0, bulk = false } = readListCap(field) ?? {}
  if (value.length > itemsMax)
    return [{ path, message: `Must have at most ${itemsMax.toLocaleString('en-US')} entries, not ${value.length}` }]
  const itemType = getNullableType(type.ofType)
  return bulk ? [] : value.flatMap((item, index) => findItemViolations(itemType, item, [...path, String(index)]))
}

function findItemViolations(type: GraphQLInputType, value: unknown, path: readonly string[]): Violation[] {
  if (value === null || value === undefined) return []
  if (!isInputObjectType(type)) return findForbiddenText(value, path)
  const fields = type.getFields()
  return Object.entries(value).flatMap(([name, given]) => {
    const field = fields[name]
    return field ? findViolations(field, given, [...path, name]) : []
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
