import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { PoolTabs, usePool } from '../../features/machines/pool-tabs.tsx'
import { useReservations } from '../../features/machines/use-reservations.ts'
import type { Executor } from '../../generated/graphql.ts'
import { openLayer } from '../../ground/layer-store.ts'
import { usePageTitle } from '../../ground/page-title.ts'
import { useNow } from '../../ground/server-clock.ts'
import { useMay } from '../../ground/use-may.ts'
import { Button } from '../../parts/button.tsx'
import { formatCount, formatPercent } from '../../parts/format.ts'
import { Empty, Failed, FailedInline, Loading } from '../../parts/page-states.tsx'
import { WithPanel } from '../../parts/side-panel.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { AddNodeForm } from './add-node-form.tsx'
import { CellColors, type ColorBy, colorings } from './cell-colors.ts'
import styles from './cluster.module.css'
import { ClusterMap } from './cluster-map.tsx'
import { ClusterTable } from './cluster-table.tsx'
import { fitNode, parseRequest } from './fits.ts'
import { FitsField } from './fits-field.tsx'
import type { ClusterPool, MapNode } from './node-changes.ts'
import type { Claims } from './node-condition.ts'
import { NodePanel } from './node-panel.tsx'
import { isSilent, type Machines, useMachines } from './use-machines.ts'
import { useNodes } from './use-nodes.ts'

/** The page of a pool's nodes and GPUs, and of the jobs that hold them. */
export function ClusterPage() {
  const { pool: asked } = useParams({ strict: false })
  const pool = usePool('./cluster/', asked)
  usePageTitle(pool.name === undefined ? 'Cluster' : `Cluster ${pool.name}`)
  if (pool.state) return pool.state
  return (
    <>
      <PoolTabs to="/cluster/$pool" pools={pool.all} shown={pool.name} />
      <PoolCluster key={pool.name} name={pool.name ?? ''} />
    </>
  )
}

function PoolCluster({ name }: { name: string }) {
  const { value, failure, read } = useNodes(name)
  if (!value) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  const { nodes, pool } = value
  return (
    <>
      {failure && <FailedInline failure={failure} onRetry={read} />}
      {nodes.length === 0 ? (
        <Empty title="The pool has no nodes" actions={<AddButton pool={pool} />}>
          Jobs of this pool wait until a node is added, in berth.yaml or with berth node add.
        </Empty>
      ) : (
        <Nodes nodes={nodes} pool={pool} />
      )}
    </>
  )
}

/** How often the colours by age are updated. */
const stepMs = 60_000

function Nodes({ nodes, pool }: { nodes: readonly MapNode[]; pool: ClusterPool }) {
  const { node: openName, fits: fitsText, color, view } = useSearch({ strict: false })
  const navigate = useNavigate({ from: '/cluster/$pool' })
  const nowMs = useNow(stepMs)
  const machines = useMachines(pool)
  const claims = useClaims(pool, nowMs, machines)
  const by = colorings.find((each) => each === color) ?? 'account'
  const request = useMemo(() => (fitsText ? parseRequest(fitsText) : null), [fitsText])
  const paints = useMemo(() => new CellColors(by, nodes, nowMs), [by, nodes, nowMs])
  const open = nodes.find(({ name }) => name === openName)
  const change = (next: { node?: string | undefined; fits?: string | undefined }) =>
    void navigate({ params: { pool: pool.name }, search: (before: object) => ({ ...before, ...next }) })
  const select = (node: MapNode | null) => change({ node: node?.name })
  const byFit = useMemo(
    () => request && Map.groupBy(nodes, (node) => fitNode(node, request, claims)),
    [request, nodes, claims],
  )
  const fitting = byFit && (byFit.get('NOW') ?? [])
  const later = byFit?.get('LATER')?.length ?? 0
  const isFaint = useMemo(() => {
    const bright = byFit && new Set(byFit.get('NOW'))
    return (node: MapNode) => bright !== null && !bright.has(node)
  }, [byFit])
  return (
    <WithPanel
      panel={open && <NodePanel key={open.id} node={open} claims={claims} pool={pool} onClose={() => select(null)} />}
    >
      <header className={styles.head}>
        <Totals pool={pool} />
        <FitsField key={fitsText} text={fitsText ?? ''} onChange={(fits) => change({ fits: fits || undefined })} />
        <ColorChoice by={by} pool={pool.name} />
        <TableLink isTable={view === 'table'} pool={pool.name} />
        <AddButton pool={pool} hasMachines={machines.size > 0} />
      </header>
      <Problems
        openName={open ? undefined : openName}
        fitsText={request ? undefined : fitsText}
        color={color}
        by={by}
      />
      {request && (
        <p className={styles.fits} role="status">
          {fitting?.length ?? 0} of {formatCount(nodes.length)} nodes have room now; {later} more would if nothing else
          ran on them.
        </p>
      )}
      {view === 'table' ? (
        <ClusterTable nodes={fitting ?? nodes} machines={machines} claims={claims} openId={open?.id} onOpen={select} />
      ) : (
        <ClusterMap
          pool={pool.name}
          nodes={nodes}
          claims={claims}
          paints={paints}
          isFaint={isFaint}
          openId={open?.id}
          onOpen={select}
        />
      )}
    </WithPanel>
  )
}

/** Finds the nodes that are held for a job, reserved for a project now, or whose engine does not answer. */
function useClaims(pool: ClusterPool, nowMs: number, machines: Machines): Claims {
  const { value } = useReservations(pool.name)
  return useMemo(() => {
    const isNow = ({ startsAt, endsAt }: { startsAt: string; endsAt: string }) =>
      Date.parse(startsAt) <= nowMs && nowMs < Date.parse(endsAt)
    return {
      held: new Set(pool.holds.flatMap(({ nodes }) => nodes.map(({ id }) => id))),
      silent: new Set([...machines].flatMap(([id, machine]) => (isSilent(machine) ? [id] : []))),
      reserved: new Set((value ?? []).filter(isNow).flatMap(({ nodes }) => nodes.map(({ id }) => id))),
    }
  }, [pool.holds, value, nowMs, machines])
}

function Totals({ pool: { name, used, capacity } }: { pool: ClusterPool }) {
  const share = (part: number, all: number) => formatPercent(all > 0 ? part / all : 0)
  return (
    <Link to="/jobs" search={{ pool: name, state: 'active' }} className={styles.totals}>
      {capacity.gpu > 0 && (
        <span>
          <b>
            {formatCount(used.gpu)} of {formatCount(capacity.gpu)}
          </b>{' '}
          GPUs
        </span>
      )}
      <span>
        <b>{share(used.cpu, capacity.cpu)}</b> of {formatCount(Math.round(capacity.cpu))} cores
      </span>
      <span>
        <b>{share(used.memoryBytes, capacity.memoryBytes)}</b> of memory
      </span>
    </Link>
  )
}

const ColorChoice = ({ by, pool }: { by: ColorBy; pool: string }) => (
  <Tabs
    look="choice"
    label="Colour"
    tabs={colorings.map((each) => ({
      title: each,
      to: '/cluster/$pool',
      params: { pool },
      search: (before) => ({ ...before, color: each === colorings[0] ? undefined : each }),
      isShown: each === by,
    }))}
  />
)

const TableLink = ({ isTable, pool }: { isTable: boolean; pool: string }) => (
  <Link
    to="/cluster/$pool"
    params={{ pool }}
    search={(before: object) => ({ ...before, view: isTable ? undefined : 'table' })}
    className={`${styles.link} ${styles.toTable}`}
  >
    {isTable ? 'Map' : 'Table'}
  </Link>
)

/** Executors that run jobs on the server's machine. Nodes cannot be added to their pools. */
const ofOneMachine: readonly Executor[] = ['LOCAL', 'HANDLER', 'CONTAINER']

function AddButton({ pool, hasMachines = false }: { pool: ClusterPool; hasMachines?: boolean }) {
  const may = useMay()
  const isBound = !hasMachines && pool.executors.some((each) => ofOneMachine.includes(each))
  if (isBound || !may('NODE_WRITE')) return null
  return (
    <Button
      onClick={() =>
        openLayer({
          kind: 'FORM',
          title: `Add a node to ${pool.name}`,
          content: (close) => <AddNodeForm pool={pool.name} onClose={close} />,
        })
      }
    >
      Add node…
    </Button>
  )
}

interface ProblemsProps {
  openName: string | undefined
  fitsText: string | undefined
  color: string | undefined
  by: ColorBy
}

/** Messages about invalid values in the URL. */
function Problems({ openName, fitsText, color, by }: ProblemsProps) {
  const found = [
    openName && `The pool has no node ${openName}.`,
    fitsText && `"${fitsText}" is not a request: write 4 GPU >= 40 GiB, or 16 cores 64 GiB.`,
    color && color !== by && `${color} is not a colour: use ${colorings.join(', ')}.`,
  ].filter((text): text is string => Boolean(text))
  return found.map((text) => (
    <p key={text} className={styles.problem} role="alert">
      {text}
    </p>
  ))
}
