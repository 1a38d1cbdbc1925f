import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isInterfaceType, isObjectType, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql'
import { expect, it } from 'vitest'
import { schema } from '../../../src/graphql/schema/schema.ts'

/** The documents of the clients, the command line, Python and the console. */
const folders = ['src/client/documents', 'web/documents']

/** Fields that no document of this repository selects, and why they exist. */
const unselected: Readonly<Record<string, string>> = {
  ...explain('Details of an event for programs; our pages show its `message`.', [
    'ApprovalDecisionDetail.comment',
    'ApprovalRequestDetail.requiredLevel',
    'ApprovalRequestDetail.ruleName',
    'ArtifactDetail.artifact',
    'PreemptionDetail.claimant',
    'PreemptionDetail.claimantAccount',
    'PreemptionDetail.tier',
    'PriorityDetail.after',
    'PriorityDetail.before',
    'StateChangeDetail.requeued',
  ]),
  ...explain('Facts of a problem for programs; our pages show its `message`.', [
    'QuotaExceededProblem.limit',
    'QuotaExceededProblem.quota',
    'QuotaExceededProblem.scope',
    'QuotaExceededProblem.used',
    'RejectedProblem.reasons',
    'VersionConflictProblem.currentVersion',
  ]),
  ...explain('An edge to the object around it, for a caller who reads the object by `node`.', [
    'JobEvent.job',
    'JobEvent.run',
    'JobSession.job',
    'Snapshot.user',
  ]),
  ...explain('The only field of a success without news.', ['ReportProgressSuccess.run', 'SaveClosureSuccess.run']),
  ...explain('Places in a stream, for clients that keep their own position.', [
    'Job.logCursor',
    'LogBatch.endOffset',
    'LogBatch.runNumber',
    'LogBatch.startOffset',
    'LogPage.startCursor',
    'StreamHeartbeat.at',
  ]),
  ...explain('A state that a job left for its next run; people read it by a document of their own.', ['Job.closure']),
  ...explain('Places of the matches for pages that mark them; ours mark by the pattern.', [
    'LogMatch.ends',
    'LogMatch.starts',
  ]),
  ...explain('Nodes as objects, also after the run; our pages show their names.', ['Run.nodes']),
  ...explain('When a link that somebody else keeps stops to work.', [
    'CreateDownloadSuccess.expiresAt',
    'CreateSnapshotSuccess.expiresAt',
    'OpenForwardSuccess.expiresAt',
    'OpenSessionSuccess.expiresAt',
  ]),
  ...explain('Facts for programs that audit or reproduce a job.', [
    'JobSession.ip',
    'Snapshot.completedAt',
    'Snapshot.createdAt',
    'Snapshot.diff',
    'Snapshot.hash',
    'Snapshot.remote',
  ]),
}

function explain(why: string, fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field, why]))
}

/** true: Relay requires the field in every connection. */
const isOfRelay = (type: string, field: string): boolean =>
  (type.endsWith('Connection') && ['edges', 'nodes', 'pageInfo', 'totalCount', 'isTotalExact'].includes(field)) ||
  (type.endsWith('Edge') && ['cursor', 'node'].includes(field))

function readDocuments(): string[] {
  const paths = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  return paths.filter((path) => path.endsWith('.graphql')).map((path) => readFileSync(path, 'utf8'))
}

function collectSelected(): ReadonlySet<string> {
  const selected = new Set<string>()
  for (const text of readDocuments()) {
    const types = new TypeInfo(schema)
    const Field = () => {
      selected.add(`${types.getParentType()?.name}.${types.getFieldDef()?.name}`)
    }
    visit(parse(text), visitWithTypeInfo(types, { Field }))
  }
  return selected
}

function listUnselected(): string[] {
  const selected = collectSelected()
  return Object.values(schema.getTypeMap()).flatMap((type) => {
    if (type.name.startsWith('__') || !(isObjectType(type) || isInterfaceType(type))) return []
    const names = [type.name, ...type.getInterfaces().map(({ name }) => name)]
    return Object.keys(type.getFields())
      .filter((field) => !isOfRelay(type.name, field) && !names.some((name) => selected.has(`${name}.${field}`)))
      .map((field) => `${type.name}.${field}`)
  })
}

it('every field is selected by a document of this repository, or is listed with a reason', () => {
  expect(listUnselected().toSorted()).toEqual(Object.keys(unselected).toSorted())
})
