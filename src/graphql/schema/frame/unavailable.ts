import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'
import type { GraphQLFieldResolver } from 'graphql'
import { explainUnavailability, isUnanswered, isUnavailable, Unavailable } from '../../../platform/tx.ts'

/**
 * Mutations and previews return UnavailableProblem during a database outage, whatever the driver threw. A bulk mutation
 * returns one per item, so clients treat all items alike.
 */

/** Queries that return problems, like mutations. */
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

/** Converts an error to `Unavailable`; null: the error is not an outage. */
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

/** Items per transaction. More may exceed the statement timeout on a busy machine. */
const itemsPerPiece = 100

/**
 * Processes items in pieces, each in a transaction. An outage ends the work: earlier pieces stay committed, and each
 * remaining item gets the outcome `Unavailable`.
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
