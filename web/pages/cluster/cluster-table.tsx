import type { MachineFragment } from '../../generated/graphql.ts'
import { formatBytes, formatTenth } from '../../parts/format.ts'
import { nameJob } from '../../parts/server-text.ts'
import { Table } from '../../parts/table.tsx'
import { describeModel } from './map-layout.ts'
import type { MapNode } from './node-changes.ts'
import { type Claims, findCondition } from './node-condition.ts'
import { describeMachine, type Machines } from './use-machines.ts'

interface ClusterTableProps {
  nodes: readonly MapNode[]
  machines: Machines
  claims: Claims
  openId: string | undefined
  onOpen: (node: MapNode) => void
}

/** The nodes of the map as a table. */
export const ClusterTable = ({ nodes, machines, claims, openId, onOpen }: ClusterTableProps) => (
  <Table
    label="Nodes"
    rows={nodes}
    getKey={({ id }) => id}
    openKey={openId}
    onOpen={onOpen}
    columns={[
      { title: 'Node', cell: ({ name }) => name },
      { title: 'Condition', cell: (node) => findCondition(node, claims) ?? 'ready' },
      ...(machines.size > 0
        ? [{ title: 'Engine', cell: ({ id }: MapNode) => describe(machines.get(id)), isSecondary: true }]
        : []),
      { title: 'GPUs', cell: (node) => (node.gpus.length === 0 ? '–' : describeModel(node)), isSecondary: true },
      {
        title: 'In use',
        isNumber: true,
        cell: ({ gpus }) =>
          gpus.length === 0 ? '–' : `${gpus.filter(({ allocated }) => allocated).length} of ${gpus.length}`,
      },
      {
        title: 'Jobs',
        isSecondary: true,
        cell: ({ gpus }) => [...new Set(gpus.flatMap(({ job }) => (job ? [nameJob(job)] : [])))].join(', '),
      },
      {
        title: 'Free cores',
        isNumber: true,
        isSecondary: true,
        cell: ({ free, capacity }) => `${formatTenth(free.cpu)} of ${formatTenth(capacity.cpu)}`,
      },
      {
        title: 'Free memory',
        isNumber: true,
        isSecondary: true,
        cell: ({ free, capacity }) => `${formatBytes(free.memoryBytes)} of ${formatBytes(capacity.memoryBytes)}`,
      },
    ]}
  />
)

const describe = (machine: MachineFragment | undefined) => (machine ? describeMachine(machine) : '–')
