import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, visit } from 'graphql'
import { expect, it } from 'vitest'
import config from '../../codegen.ts'
import { root } from '../support/sources.ts'
import { schema } from './support/schema.ts'

/** Mutations that runs call with their tokens. */
const ofRuns = ['reportProgress', 'publishArtifact', 'saveClosure']

/** Mutations that the console does not call, with the reason. */
const elsewhere: Readonly<Record<string, string>> = {
  deleteJob: 'deleteJobs deletes one job too',
  setJobPriority: 'setJobPriorities changes one job too',
  approveJob: 'approveJobs approves one request too',
  rejectJob: 'rejectJobs rejects one request too',
  reserveSlot: 'a program reserves a slot while it uploads data',
  createSnapshot: 'a program reads the folder that it sends',
  releaseSlot: 'a program releases the slot that it does not use',
}

const mutations = Object.keys(schema.getMutationType()?.getFields() ?? {})

function usedByConsole(): Set<string> {
  const used = new Set<string>()
  const { documents } = config.generates['web/generated/graphql.ts'] as { documents: string[] }
  for (const path of globSync(documents, { cwd: root }))
    visit(parse(readFileSync(join(root, path), 'utf8')), {
      OperationDefinition({ operation, selectionSet }) {
        if (operation !== 'mutation') return
        for (const selection of selectionSet.selections) if (selection.kind === 'Field') used.add(selection.name.value)
      },
    })
  return used
}

it('the console uses each mutation, or the table has a reason why it does not', () => {
  const used = usedByConsole()
  const known = new Set([...used, ...ofRuns, ...Object.keys(elsewhere)])
  expect(mutations.filter((name) => !known.has(name))).toEqual([])
  expect(Object.keys(elsewhere).filter((name) => used.has(name) || !mutations.includes(name))).toEqual([])
})
