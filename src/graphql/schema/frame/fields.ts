import type { FieldMap } from '@pothos/core'
import { NotFound } from '../../../domain/errors.ts'
import type { Loaders } from '../../rows/loaders.ts'
import type { builder } from './builder.ts'
import {
  ApiTokenRef,
  ApprovalRuleRef,
  ArtifactRef,
  CapacityReservationRef,
  HoldRef,
  JobRef,
  JobSessionRef,
  PoolNodeRef,
  QuotaRef,
  RunRef,
  SavedViewRef,
  SecretRef,
  SlotReservationRef,
  SnapshotRef,
  TeamRef,
  UserRef,
} from './refs.ts'

type FieldBuilder<Row> = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Row>

/** The GraphQL type of a field that exposes a column; `?`: the value may be null. */
type ExposedType<Value> = [Value] extends [NonNullable<Value>] ? TypeName<Value> : `${TypeName<NonNullable<Value>>}?`

type TypeName<Value> = [Value] extends [string]
  ? 'String' | 'ID' | 'Cursor'
  : [Value] extends [boolean]
    ? 'Boolean'
    : [Value] extends [number]
      ? 'Int' | 'Float' | 'UInt53'
      : [Value] extends [bigint | number]
        ? 'UInt53'
        : [Value] extends [Date]
          ? 'DateTime'
          : [Value] extends [readonly string[]]
            ? '[String]'
            : [Value] extends [readonly number[]]
              ? '[Int]'
              : 'JSONObject'

type Exposed<Row> = { [Column in keyof Row]?: readonly [type: ExposedType<Row[Column]>, description: string] }

/** Declares fields that expose columns under their own names. */
export function exposeColumns<Row>(t: FieldBuilder<Row>, fields: Exposed<Row>): FieldMap {
  const declare = ([name, [type, description]]: [string, readonly [string, string]]) => {
    const [, list, item] = /^(\[?)(\w+)/.exec(type) ?? []
    const options = { type: list ? [item] : item, nullable: type.endsWith('?'), description }
    return [name, t.expose(name as never, options as never)]
  }
  return Object.fromEntries(Object.entries(fields as Record<string, readonly [string, string]>).map(declare))
}

/** Target objects of fields, by the names of their loaders. */
const targets = {
  approvalRule: ApprovalRuleRef,
  artifact: ArtifactRef,
  capacityReservation: CapacityReservationRef,
  hold: HoldRef,
  job: JobRef,
  node: PoolNodeRef,
  quota: QuotaRef,
  run: RunRef,
  savedView: SavedViewRef,
  secret: SecretRef,
  session: JobSessionRef,
  slot: SlotReservationRef,
  snapshot: SnapshotRef,
  team: TeamRef,
  token: ApiTokenRef,
  user: UserRef,
}
type Target = keyof typeof targets

/** The target may be omitted if the column is named after it: `jobId`. */
type Named<Column> = Column extends `${Target}Id` ? [] : [target: Target]

type ColumnOf<Row, Value> = { [Column in keyof Row]: Row[Column] extends Value ? Column : never }[keyof Row] & string

/** Declares a field that loads the object whose id is in `column`. */
export const objectField = <Row, Column extends ColumnOf<Row, string>>(
  t: FieldBuilder<Row>,
  column: Column,
  description: string,
  ...[target = column.slice(0, -2) as Target]: Named<Column>
): FieldMap[string] =>
  t.field({
    type: targets[target] as typeof JobRef,
    description,
    resolve: (row, _args, { load }) => requireRow<unknown>(load[target].load(row[column] as string)) as never,
  })

/** Like `objectField`; null: the column is null, or the object is deleted or hidden. */
export const objectFieldOrNull = <Row, Column extends ColumnOf<Row, string | null>>(
  t: FieldBuilder<Row>,
  column: Column,
  description: string,
  ...[target = column.slice(0, -2) as Target]: Named<Column>
): FieldMap[string] =>
  t.field({
    type: targets[target] as typeof JobRef,
    nullable: true,
    description,
    resolve: (row, _args, { load }) =>
      (row[column] === null ? null : load[target].load(row[column] as string)) as never,
  })

/** Loads rows for `node`; null: the row does not exist, or the viewer may not see its job. */
export const loadWithVisibleJob = <Row extends { jobId: string }>(
  load: Loaders,
  loader: { load(id: string): Promise<Row | null> },
  ids: readonly string[],
): Promise<(Row | null)[]> =>
  Promise.all(
    ids.map(async (id) => {
      const row = await loader.load(id)
      return row && (await load.job.load(row.jobId)) ? row : null
    }),
  )

/** Makes the options of the input field `expectedVersion`. */
export const expectedVersion = (noun: string) =>
  ({ type: 'UInt53', description: `Fails with a version conflict unless the ${noun} has this version.` }) as const

/** Options of the field `version`. */
export const versionField = {
  type: 'UInt53',
  description:
    'Rises with each change; pass it as `expectedVersion`, so that you do not overwrite a change of another user.',
} as const

/** Returns the row. Refuses if it was deleted since the mutation wrote it. */
export async function requireRow<Row>(row: Promise<Row | null>): Promise<Row> {
  const found = await row
  if (found === null) throw new NotFound('The object was deleted meanwhile')
  return found
}
