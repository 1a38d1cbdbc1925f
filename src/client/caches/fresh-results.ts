import type { DocumentNode, FieldNode, FragmentDefinitionNode, SelectionSetNode, ValueNode } from 'graphql'

/**
 * Keeps a normalised cache from going back in time, because a list that was read before an event may arrive after it. A
 * field of a job that is older than the newest known `version` of the job gets the newer value; runs and approvals have
 * the version of their job. Deleted jobs are removed from lists.
 *
 * If a stream starts again, everything is cleared: the database was restored from a backup, where rows are older and
 * deleted jobs exist again. Rows that are selected without `id` and `version` are not changed.
 */
export interface Fresh {
  of<Data>(
    operation: { query: DocumentNode; variables?: object | undefined },
    data: Data,
  ): { data: Data; deletedJobIds: readonly string[] }
}

const rowsMax = 10_000
const partsOfJob = new Set(['Run', 'Approval'])

type Fields = Record<string, unknown>
interface Known {
  version: number
  value: unknown
}

interface Walk {
  fragments: ReadonlyMap<string, FragmentDefinitionNode>
  variables: Fields
}

export function createFreshResults(): Fresh {
  const rows = createMemory<Map<string, Known>>()
  const deleted = createMemory<true>()

  function freshValue(walk: Walk, value: unknown, selected: readonly SelectionSetNode[], version?: number): unknown {
    if (Array.isArray(value))
      return value.filter((item) => !isDeleted(item)).map((item) => freshValue(walk, item, selected, version))
    if (!isFields(value)) return value
    const typename = String(value['__typename'])
    const age = typename === 'Job' ? versionOf(value) : partsOfJob.has(typename) ? version : undefined
    const row = age !== undefined && typeof value['id'] === 'string' ? rowOf(`${typename}:${value['id']}`) : undefined
    const fields = fieldsOf(walk, selected)
    return Object.fromEntries(
      Object.entries(value).map(([name, raw]) => {
        const field = fields.get(name)
        if (!field) return [name, raw]
        const fresh = freshValue(walk, raw, field.selected, age)
        return [name, row && age !== undefined ? newest(row, field.key, { version: age, value: fresh }) : fresh]
      }),
    )
  }

  function rowOf(key: string): Map<string, Known> {
    const row = rows.get(key) ?? new Map()
    rows.set(key, row)
    return row
  }

  const isDeleted = (item: unknown): boolean => {
    if (!isFields(item)) return false
    const node = isFields(item['node']) ? item['node'] : item
    return node['__typename'] === 'Job' && deleted.get(String(node['id'])) === true
  }

  return {
    of({ query, variables = {} }, data) {
      const walk = { fragments: fragmentsOf(query), variables: variables as Fields }
      if (isFullReset(data)) for (const memory of [rows, deleted]) memory.clear()
      const deletedJobIds = findDeletedJobIds(data)
      for (const id of deletedJobIds) deleted.set(id, true)
      const roots = query.definitions.flatMap((each) =>
        each.kind === 'OperationDefinition' ? [each.selectionSet] : [],
      )
      return { data: freshValue(walk, data, roots) as typeof data, deletedJobIds }
    },
  }
}

function newest(row: Map<string, Known>, key: string, incoming: Known): unknown {
  const known = row.get(key)
  if (known && known.version > incoming.version) return known.value
  row.set(key, incoming)
  return incoming.value
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

const versionOf = ({ version }: Fields) => (typeof version === 'number' ? version : undefined)

/** Finds the ids of deleted jobs in the result of a deletion or a reset of a stream. */
export function findDeletedJobIds(data: unknown): string[] {
  if (!isFields(data)) return []
  return Object.values(data).flatMap((field) => {
    if (!isFields(field)) return []
    const ids: Record<string, unknown> = {
      DeleteJobSuccess: field['deletedId'],
      StreamReset: field['jobIds'],
    }
    return [ids[String(field['__typename'])] ?? []].flat().map(String)
  })
}

/** true: a reset that names no jobs, after which the stream starts again. */
const isFullReset = (data: unknown) =>
  isFields(data) &&
  Object.values(data).some((field) => isFields(field) && field['__typename'] === 'StreamReset') &&
  findDeletedJobIds(data).length === 0

const fragmentsOf = (query: DocumentNode) =>
  new Map(query.definitions.flatMap((each) => (each.kind === 'FragmentDefinition' ? [[each.name.value, each]] : [])))

interface Selected {
  /** Name, arguments and selection of the field: equal keys mean values of the same meaning and shape. */
  key: string
  selected: SelectionSetNode[]
}

/** Collects the selected fields by their names in the result, for all types that the object may have. */
function fieldsOf(walk: Walk, selected: readonly SelectionSetNode[]): Map<string, Selected> {
  const nodes = new Map<string, FieldNode[]>()
  const visit = ({ selections }: SelectionSetNode) => {
    for (const selection of selections)
      if (selection.kind === 'Field') {
        const name = (selection.alias ?? selection.name).value
        nodes.set(name, [...(nodes.get(name) ?? []), selection])
      } else if (selection.kind === 'InlineFragment') visit(selection.selectionSet)
      else {
        const fragment = walk.fragments.get(selection.name.value)
        if (fragment) visit(fragment.selectionSet)
      }
  }
  selected.forEach(visit)
  return new Map(
    [...nodes].map(([name, same]) => {
      const below = same.flatMap(({ selectionSet }) => selectionSet ?? [])
      return [name, { key: keyOf(walk, same[0] as FieldNode, below), selected: below }]
    }),
  )
}

function keyOf(walk: Walk, { name, arguments: given = [] }: FieldNode, below: readonly SelectionSetNode[]): string {
  const args = given.map((each) => `${each.name.value}:${valueText(walk, each.value)}`)
  const keys = below.length === 0 ? [] : [...fieldsOf(walk, below).entries()].map(([as, { key }]) => `${as}=${key}`)
  return `${name.value}(${args.sort().join()}){${keys.sort().join()}}`
}

function valueText(walk: Walk, value: ValueNode): string {
  switch (value.kind) {
    case 'Variable':
      return JSON.stringify(walk.variables[value.name.value]) ?? 'null'
    case 'ListValue':
      return `[${value.values.map((each) => valueText(walk, each)).join()}]`
    case 'ObjectValue':
      return `{${value.fields.map((each) => `${each.name.value}:${valueText(walk, each.value)}`).join()}}`
    case 'NullValue':
      return 'null'
    default:
      return JSON.stringify(value.value)
  }
}

/** A map that drops the entries that were not set for the longest time. */
function createMemory<Value>() {
  const values = new Map<string, Value>()
  return {
    get: (key: string) => values.get(key),
    clear: () => values.clear(),
    set(key: string, value: Value) {
      values.delete(key)
      values.set(key, value)
      if (values.size > rowsMax) values.delete(values.keys().next().value ?? '')
    },
  }
}
