import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'
import type { GraphQLFieldResolver } from 'graphql'
import { explainUnavailability, isUnanswered, isUnavailable, Unavailable } from '../../../platform/tx.ts'

/**
 * Mutations and previews return UnavailableProblem during a database outage, whatever the driver threw. A bulk mutation
 * returns one per item, so clients treat all items alike.
 */

/** Queries that return problems, as mutations do. */
const previews: ReadonlySet<string> = new Set(['previewJob', 'previewApprovalRule'])

type Resolver = GraphQLFieldResolver<unknown, object>

class UnavailablePlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(resolver: Resolver, { parentType, name }: PothosOutputFieldConfig<Types>): Resolver {
    if (parentType !== 'Mutation' && !previews.has(name)) return resolver
    return async (...args) => {
      try {
        return await resolver(...args)
      } catch (error) {
        throw (parentType === 'Mutation' ? toUnavailableMutation(error) : toUnavailable(error)) ?? error
      }
    }
  }
}

/** null: not an outage. */
function toUnavailable(error: unknown): Unavailable | null {
  if (error instanceof Unavailable) return error
  return isUnavailable(error) ? new Unavailable(explainUnavailability(error), { cause: error }) : null
}

function toUnavailableMutation(error: unknown): Unavailable | null {
  const found = toUnavailable(error)
  if (!found || !isUnanswered(found.cause)) return found
  return new Unavailable(`${found.message}; ${mayBeDone}`, { cause: found.cause })
}

const mayBeDone = 'the change may have been made, and only a submission with an idempotency key is safe to repeat'

/** A transaction with more items may exceed the time of its statements on a busy machine. */
const itemsPerPiece = 100

/**
 * Works in pieces, each a transaction. An outage ends the work: what is done stays done, and each item that is not has
 * the outcome `Unavailable`.
 */
export async function catchOutage<Item, Outcome>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<Outcome[]>,
): Promise<(Outcome | Unavailable)[]> {
  const outcomes: Outcome[] = []
  try {
    do outcomes.push(...(await work(items.slice(outcomes.length, outcomes.length + itemsPerPiece))))
    while (outcomes.length < items.length)
    return outcomes
  } catch (error) {
    const unavailable = toUnavailableMutation(error)
    if (!unavailable) throw error
    return [...outcomes, ...items.slice(outcomes.length).map(() => unavailable)]
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
