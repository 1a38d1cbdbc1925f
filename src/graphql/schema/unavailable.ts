import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'
import type { GraphQLFieldResolver } from 'graphql'
import { isUnavailable, Unavailable, whyUnavailable } from '../../platform/tx.ts'

/**
 * A mutation during an outage is answered with UnavailableProblem, whichever of its statements failed and whatever the
 * driver threw. Of many, each gets its own, so that the client treats all of them alike.
 */

type Resolver = GraphQLFieldResolver<unknown, object>

class UnavailablePlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(resolver: Resolver, { parentType }: PothosOutputFieldConfig<Types>): Resolver {
    if (parentType !== 'Mutation') return resolver
    return async (...args) => {
      try {
        return await resolver(...args)
      } catch (error) {
        throw unavailableOf(error) ?? error
      }
    }
  }
}

/** null: it is something else. */
function unavailableOf(error: unknown): Unavailable | null {
  if (error instanceof Unavailable) return error
  return isUnavailable(error) ? new Unavailable(whyUnavailable(error), { cause: error }) : null
}

/** The outcomes of all items, or for each that it is unavailable now. */
export async function eachOrUnavailable<Item, Outcome>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<Outcome[]>,
): Promise<(Outcome | Unavailable)[]> {
  try {
    return await work(items)
  } catch (error) {
    const unavailable = unavailableOf(error)
    if (!unavailable) throw error
    return items.map(() => unavailable)
  }
}

declare global {
  namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      unavailable: UnavailablePlugin<Types>
    }
  }
}

SchemaBuilder.registerPlugin('unavailable', UnavailablePlugin)
