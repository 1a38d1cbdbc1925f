import dagre from '@dagrejs/dagre'
import { useNavigate } from '@tanstack/react-router'
import { Background, Handle, type Node, type NodeProps, Position, ReactFlow } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { useMemo } from 'react'
import { nameJob } from '../../../parts/server-text.ts'
import { StateGlyph } from '../../../parts/state-glyph.tsx'
import type { Box, JobGraph } from './graph-data.ts'
import styles from './graph-tab.module.css'

type JobNode = Node<{ box: Box; folded: number; isThis: boolean }, 'job'>

const [boxWidth, boxHeight] = [200, 36]
const conditionWords = { SUCCEEDED: '', FAILED: 'fails', FINISHED: 'ends' } as const

/** Draws the dependency graph from left to right, in the order in which the jobs can run. */
export function GraphDrawing({ graph, id }: { graph: JobGraph; id: string }) {
  const navigate = useNavigate()
  const places = useMemo(() => layOut(graph), [graph])
  const nodes = [...graph.boxes.values()].map(
    (box): JobNode => ({
      id: box.id,
      type: 'job',
      position: places.get(box.id) ?? { x: 0, y: 0 },
      data: { box, folded: graph.folded.get(box.id) ?? 0, isThis: box.id === id },
      width: boxWidth,
      height: boxHeight,
    }),
  )
  const edges = graph.edges.map(({ from, to, on }) => ({
    id: `${from} ${to}`,
    source: from,
    target: to,
    label: conditionWords[on],
  }))
  return (
    <ReactFlow
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      elementsSelectable={false}
      onNodeClick={(_, node) => void navigate({ to: '/jobs/$id/$tab', params: { id: node.id, tab: 'graph' } })}
      fitView
      fitViewOptions={{ maxZoom: 1, padding: 0.1 }}
      minZoom={0.1}
      proOptions={{ hideAttribution: true }}
    >
      <Background gap={20} color="var(--line)" />
    </ReactFlow>
  )
}

const JobBox = ({ data: { box, folded, isThis } }: NodeProps<JobNode>) => (
  <div className={styles.node} data-this={isThis}>
    <Handle type="target" position={Position.Left} className={styles.handle} />
    <StateGlyph state={box.state} />
    <span className={styles.name}>{nameJob(box)}</span>
    {folded > 0 && <span className={styles.faint}>+{folded}</span>}
    <Handle type="source" position={Position.Right} className={styles.handle} />
  </div>
)

const nodeTypes = { job: JobBox }

function layOut(graph: JobGraph): ReadonlyMap<string, { x: number; y: number }> {
  const plan = new dagre.graphlib.Graph().setGraph({ rankdir: 'LR', nodesep: 12, ranksep: 56 })
  plan.setDefaultEdgeLabel(() => ({}))
  for (const id of graph.boxes.keys()) plan.setNode(id, { width: boxWidth, height: boxHeight })
  for (const { from, to } of graph.edges) plan.setEdge(from, to)
  dagre.layout(plan)
  return new Map(
    plan.nodes().map((id) => {
      const { x, y } = plan.node(id)
      return [id, { x: x - boxWidth / 2, y: y - boxHeight / 2 }]
    }),
  )
}
