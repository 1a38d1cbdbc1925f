import { useMemo } from 'react'
import { type MachineFragment, MachinesDocument } from '../../generated/graphql.ts'
import { client } from '../../ground/connection.ts'
import { readPages } from '../../ground/list-pages.ts'
import { useResource } from '../../ground/resource.ts'
import type { ClusterPool } from './node-changes.ts'

/** Machines by the id of their node. */
export type Machines = ReadonlyMap<string, MachineFragment>

const machinesPerPage = 100
const readMs = 10_000

/** Reads the machines of a pool again and again, because the stream does not report their latency. */
export function useMachines({ name, executors }: ClusterPool): Machines {
  const isOff = !executors.includes('CONTAINER')
  const { value } = useResource(`machines ${name}`, (signal) => readMachines(name, signal), { everyMs: readMs, isOff })
  return useMemo(
    () => new Map(value?.flatMap(({ id, machine }): [string, MachineFragment][] => (machine ? [[id, machine]] : []))),
    [value],
  )
}

async function readMachines(pool: string, signal: AbortSignal) {
  const { rows } = await readPages(async (after) => {
    const found = await client.request(MachinesDocument, { pool, first: machinesPerPage, after }, { signal })
    return found.pool?.nodes ?? { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } }
  })
  return rows
}

export const isSilent = ({ silence, silentSince }: MachineFragment): boolean => silence !== null || silentSince !== null

export function describeMachine(machine: MachineFragment): string {
  if (isSilent(machine)) return 'does not answer'
  if (machine.engine === null || machine.latencySeconds === null) return 'not asked yet'
  return `${machine.engine}, answers in ${Math.round(machine.latencySeconds * 1_000)} ms`
}
