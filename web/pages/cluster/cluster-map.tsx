import { Link } from '@tanstack/react-router'
import { type MouseEvent, useEffect, useMemo, useRef, useState } from 'react'
import { fitCanvas } from '../../parts/canvas.ts'
import { useCanvasColors } from '../../parts/canvas-colors.ts'
import { otherColor, seriesColors } from '../../parts/chart-series.ts'
import { formatBytes, formatCount, formatTenth, plural } from '../../parts/format.ts'
import { nameJob } from '../../parts/server-text.ts'
import { states, stateWords } from '../../parts/states.ts'
import { isControl } from '../../parts/table.tsx'
import { useSize } from '../../parts/use-size.ts'
import type { CellColors } from './cell-colors.ts'
import styles from './cluster.module.css'
import { drawMap, type MapView } from './draw-map.ts'
import { findSpot, layOutMap, type MapLayout, nameHeight, type Spot } from './map-layout.ts'
import type { MapNode } from './node-changes.ts'
import { type Claims, findCondition } from './node-condition.ts'

interface ClusterMapProps {
  pool: string
  nodes: readonly MapNode[]
  claims: Claims
  paints: CellColors
  isFaint: (node: MapNode) => boolean
  openId: string | undefined
  onOpen: (node: MapNode) => void
}

const expressions = [
  ...states.map((state) => `var(--state-${state.toLowerCase()})`),
  ...[1, 2, 3, 4].map((step) => `var(--heat-${step})`),
  ...seriesColors,
  otherColor,
]
const colorNames = {
  ink: 'var(--ink)',
  faint: 'var(--faint)',
  surface: 'var(--surface)',
  outline: 'color-mix(in oklab, var(--ink), transparent 45%)',
  selected: 'var(--selected)',
  warning: 'var(--warning)',
  free: 'var(--line)',
  empty: 'var(--line-strong)',
  ...Object.fromEntries(expressions.map((each) => [each, each])),
}

/** A map of all nodes on one canvas. `ClusterTable` shows the same for screen readers and keyboards. */
export function ClusterMap({ pool, nodes, claims, paints, isFaint, openId, onOpen }: ClusterMapProps) {
  const box = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const size = useSize(box)
  const [scrollTop, setScrollTop] = useState(0)
  const [spot, setSpot] = useState<Spot | null>(null)
  const colors = useCanvasColors(colorNames)
  const layout = useMemo(() => layOutMap(nodes, size.width), [nodes, size.width])
  const view: MapView = useMemo(
    () => ({ layout, ...size, scrollTop, paints, claims, isFaint, openId }),
    [layout, size, scrollTop, paints, claims, isFaint, openId],
  )
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context || view.width === 0) return
    fitCanvas(context, view.width, view.height)
    drawMap(context, view, colors)
  }, [view, colors])
  const find = ({ clientX, clientY }: MouseEvent) => {
    const { left = 0, top = 0 } = canvas.current?.getBoundingClientRect() ?? {}
    return findSpot(layout, clientX - left, clientY - top + scrollTop)
  }
  const gpus = nodes.reduce((sum, { gpus }) => sum + gpus.length, 0)
  return (
    <>
      <div className={styles.foot}>
        <Legend nodes={nodes} paints={paints} />
        <p className={styles.spot}>
          {spot
            ? describeSpot(spot, claims)
            : gpus > 0
              ? 'Point at a GPU for its job; click for the node.'
              : 'Click a node for its jobs.'}
        </p>
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the table has the same rows as buttons */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the table has the same rows as buttons */}
      <div
        ref={box}
        className={styles.map}
        style={{ cursor: spot ? 'pointer' : 'default' }}
        onScroll={({ currentTarget }) => setScrollTop(currentTarget.scrollTop)}
        onMouseMove={(event) => setSpot(find(event))}
        onMouseLeave={() => setSpot(null)}
        onClick={(event) => {
          if (isControl(event.target)) return
          const node = find(event)?.node
          if (node) onOpen(node)
        }}
      >
        <div style={{ height: layout.height }}>
          <NodeLinks pool={pool} layout={layout} top={scrollTop} height={size.height} />
          <canvas
            ref={canvas}
            role="img"
            aria-label={`Map of ${plural(nodes.length, 'node')} with ${plural(gpus, 'GPU')}; the link Table shows them as a table`}
            style={{ width: size.width, height: size.height }}
          />
        </div>
      </div>
    </>
  )
}

interface NodeLinksProps {
  pool: string
  layout: MapLayout
  top: number
  height: number
}

/** Links over the names of the visible nodes. */
const NodeLinks = ({ pool, layout: { groups }, top, height }: NodeLinksProps) =>
  groups.flatMap(({ tiles, tileWidth, tileHeight }) =>
    tiles
      .filter(({ y }) => y + tileHeight > top && y < top + height)
      .map(({ node, x, y }) => (
        <Link
          key={node.id}
          to="/cluster/$pool"
          params={{ pool }}
          search={(before: object) => ({ ...before, node: node.name })}
          className={styles.node}
          aria-label={node.name}
          style={{ left: x, top: y, maxWidth: tileWidth, height: nameHeight }}
        >
          {node.name}
        </Link>
      )),
  )

function Legend({ nodes, paints }: { nodes: readonly MapNode[]; paints: CellColors }) {
  const entries = useMemo(() => paints.legend(nodes), [nodes, paints])
  return (
    <ul className={styles.legend} aria-label="Colours">
      {entries.map(({ key, color, count }) => (
        <li key={key}>
          <span className={styles.swatch} data-free={color === 'transparent'} style={{ background: color }} />
          {key} <b>{formatCount(count)}</b>
        </li>
      ))}
    </ul>
  )
}

/** "gpu3, GPU 2: eval-big (running, ml.vision)". */
function describeSpot({ node, device }: Spot, claims: Claims): string {
  const condition = findCondition(node, claims)
  const place = `${node.name}${condition === null ? '' : ` (${condition})`}`
  if (!device) {
    const { free, capacity } = node
    return `${place}: ${formatTenth(free.cpu)} of ${formatTenth(capacity.cpu)} cores and ${formatBytes(free.memoryBytes)} of ${formatBytes(capacity.memoryBytes)} free`
  }
  const { index, allocated, job } = device
  const holder = job ? `${nameJob(job)} (${stateWords[job.state].toLowerCase()}, ${job.account})` : 'in use'
  return `${place}, GPU ${index}: ${allocated ? holder : 'free'}`
}
