import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { JobNeighboursDocument } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { loadPart } from '../../../ground/load-part.ts'
import { useMedia } from '../../../ground/media.ts'
import { useResource } from '../../../ground/resource.ts'
import { formatCount, plural } from '../../../parts/format.ts'
import { Empty, Failed, FailedInline, Loading } from '../../../parts/page-states.tsx'
import { nameJob } from '../../../parts/server-text.ts'
import { StateChip } from '../../../parts/state-glyph.tsx'
import type { PageJob } from '../use-job.ts'
import { type JobGraph, listSide, readGraph } from './graph-data.ts'
import styles from './graph-tab.module.css'

const Drawing = lazy(async () => ({ default: (await loadPart(() => import('./graph-drawing.tsx'))).GraphDrawing }))

const dependentsRead = 50
const readAgainMs = 10_000

/** Shows the dependencies and dependents of the job as a drawing and as lists. */
export function GraphTab({ job }: { job: PageJob }) {
  const isWide = useMedia('(min-width: 640px)')
  const { value, failure, read } = useResource(
    `graph ${job.id}`,
    (signal) =>
      readGraph(job.id, async (ids) => {
        const variables = { ids: [...ids], first: dependentsRead }
        const { nodes } = await client.request(JobNeighboursDocument, variables, { attempts: 4, signal })
        return nodes.filter((node) => node !== null && 'dependents' in node)
      }),
    { everyMs: readAgainMs },
  )
  if (value === undefined) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  if (value === null || value.boxes.size === 1)
    return (
      <Empty title="No dependencies">
        This job waits for no other job, and no job waits for it. <code>berth submit --after JOB</code> makes one wait.
      </Empty>
    )
  const hidden = [...value.folded.values()].reduce((sum, each) => sum + each, 0)
  return (
    <section className={styles.box} aria-label="Graph">
      {failure && <FailedInline failure={failure} onRetry={read} />}
      {isWide && (
        <div className={styles.drawing} aria-hidden="true">
          <Suspense fallback={<Loading />}>
            <Drawing graph={value} id={job.id} />
          </Suspense>
        </div>
      )}
      {hidden > 0 && <p className={styles.faint}>{plural(hidden, 'more job')} not shown.</p>}
      <Side title="Waits for" graph={value} ids={listSide(value, job.id, 'BEFORE')} />
      <Side title="Wait for this job" graph={value} ids={listSide(value, job.id, 'AFTER')} />
    </section>
  )
}

function Side({ title, graph, ids }: { title: string; graph: JobGraph; ids: readonly string[] }) {
  if (ids.length === 0) return null
  return (
    <div>
      <h3 className={styles.heading}>
        {title} <span>{formatCount(ids.length)}</span>
      </h3>
      <ul className={styles.jobs}>
        {ids.map((id) => {
          const box = graph.boxes.get(id)
          return (
            box && (
              <li key={id}>
                <StateChip state={box.state} />
                <Link to="/jobs/$id/$tab" params={{ id, tab: 'graph' }} className={styles.link}>
                  {nameJob({ id, name: box.name })}
                </Link>
                <span className={styles.faint}>{box.user.name}</span>
              </li>
            )
          )
        })}
      </ul>
    </div>
  )
}
