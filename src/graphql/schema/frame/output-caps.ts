import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core'
import type { GraphQLFieldResolver } from 'graphql'
import { permissionsMax, tokenScopes } from '../../../domain/access.ts'
import { namesMax } from '../../../domain/inside/metrics.ts'
import { quotaActions } from '../../../domain/limits/quota-rules.ts'
import { quotaTypes } from '../../../domain/limits/quota-types.ts'
import { pageGapsMax } from '../../../logs/read.ts'
import { batchLinesMax, limits } from '../../caller-limits.ts'
import { refusal } from '../../errors.ts'

/**
 * Caps every list that is not a connection, and appends the cap to its description. The default is `itemsMax`. A longer
 * list is an error, never cut. A description that names a cap belongs to a list whose statement enforces it.
 */

export const itemsMax = 1_000

/** GPUs per node, as `addNode` allows. */
export const gpusMax = 1_024
const levels = 4
/** Copies of a job, as a submission allows. */
const copiesMax = 10_000
/** Words of a command line. */
const wordsMax = 10_000

const caps: Readonly<Record<string, number>> = {
  'ApiToken.scopes': tokenScopes.length,
  'ApprovalCondition.levelNotIn': levels,
  'ApprovalRule.exemptLevels': levels,
  'ApproveJobsSuccess.results': limits.decisionsMax,
  'Gpu.cuda': 2,
  'Hold.nodes': copiesMax,
  'InternalDns.ports': 1_024,
  'JobPreview.gpuIds': gpusMax,
  'JobPreview.nodeNames': copiesMax,
  'JobSpec.arguments': wordsMax,
  'JobSpec.command': wordsMax,
  'JobSpec.data': 256,
  'JobSpec.environment': wordsMax,
  'JobSpec.secrets': 32,
  'JobTransitions.transitions': 200,
  'LogBatch.lines': batchLinesMax,
  'LogPage.gaps': pageGapsMax,
  'LogPage.lines': 5_000,
  'Placement.gpuIds': gpusMax,
  'PoolNode.gpus': gpusMax,
  'RejectJobsSuccess.results': limits.decisionsMax,
  'Resources.cpuModel': 64,
  'Resources.gpuIds': gpusMax,
  'Resources.gpuModel': 64,
  'Retry.onExitCodes': 255,
  'Run.gpuIds': gpusMax,
  'Run.metrics': namesMax,
  'Run.nodeNames': copiesMax,
  'Run.nodes': copiesMax,
  'Run.placements': copiesMax,
  'User.allow': permissionsMax,
  'User.deny': permissionsMax,
  'Viewer.quotas': quotaTypes.length * quotaActions.length,
  'Viewer.scopes': tokenScopes.length,
}

type Resolver = GraphQLFieldResolver<unknown, object>

/** null: the field is not a list, belongs to a connection, or its description names the cap. */
function findCap({ type, kind, parentType, name, description }: Field): number | null {
  if (type.kind !== 'List' || kind === 'Subscription' || parentType.endsWith('Connection')) return null
  return /at most [\d,]+/i.test(description ?? '') ? null : (caps[`${parentType}.${name}`] ?? itemsMax)
}

type Field = Pick<
  PothosOutputFieldConfig<SchemaTypes>,
  'type' | 'kind' | 'parentType' | 'name' | 'description' | 'extensions'
>

class OutputCapsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const cap = findCap(field as Field)
    if (cap === null) return field
    const description = `${field.description} At most ${cap.toLocaleString('en-US')}.`
    return { ...field, description, extensions: { ...field.extensions, outputCap: cap } }
  }

  override wrapResolve(resolver: Resolver, { extensions, parentType, name }: PothosOutputFieldConfig<Types>): Resolver {
    const cap = extensions?.['outputCap']
    if (typeof cap !== 'number') return resolver
    const demandCap = (list: unknown) => {
      if (!Array.isArray(list) || list.length <= cap) return list
      throw refusal(
        'BAD_REQUEST',
        `${parentType}.${name} has more than ${cap.toLocaleString('en-US')} entries, the maximum`,
      )
    }
    return (...args) => {
      const list: unknown = resolver(...args)
      return list instanceof Promise ? list.then(demandCap) : demandCap(list)
    }
  }
}

declare global {
  namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      outputCaps: OutputCapsPlugin<Types>
    }
  }
}

SchemaBuilder.registerPlugin('outputCaps', OutputCapsPlugin)
