import { lazy, Suspense, useState } from 'react'
import { downloadArtifact } from '../../../features/log/download.ts'
import { type ArtifactRowFragment, JobArtifactsDocument } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { loadPart } from '../../../ground/load-part.ts'
import { useResource } from '../../../ground/resource.ts'
import { Button } from '../../../parts/button.tsx'
import { formatBytes, formatCount } from '../../../parts/format.ts'
import { Empty, Failed, FailedInline, Loading } from '../../../parts/page-states.tsx'
import { SidePanel, WithPanel } from '../../../parts/side-panel.tsx'
import { type Column, Table } from '../../../parts/table.tsx'
import { Time } from '../../../parts/time.tsx'
import type { PageJob } from '../use-job.ts'
import { Address } from './artifact-address.tsx'
import styles from './artifacts-tab.module.css'

const Preview = lazy(async () => ({
  default: (await loadPart(() => import('./artifact-preview.tsx'))).ArtifactPreview,
}))

type Artifact = ArtifactRowFragment

const artifactsRead = 100

interface ArtifactsTabProps {
  job: PageJob
  openId: string | undefined
  onOpen: (id: string | undefined) => void
}

/** The results that the runs published, newest first, with a preview. */
export function ArtifactsTab({ job, openId, onOpen }: ArtifactsTabProps) {
  const [last, setLast] = useState(artifactsRead)
  const { value, failure, read } = useResource(`artifacts ${job.id} ${job.artifacts.totalCount} ${last}`, (signal) =>
    readArtifacts(job.id, last, signal),
  )
  if (!value) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  if (value.length === 0)
    return (
      <Empty title="No artifacts">
        A run publishes results with <code>berth artifact publish NAME --file FILE</code>. They appear here.
      </Empty>
    )
  const open = value.find(({ id }) => id === openId)
  return (
    <WithPanel
      panel={
        open && (
          <SidePanel
            key={open.id}
            title={open.name}
            actions={open.uri === null && <Download artifact={open} />}
            onClose={() => onOpen(undefined)}
          >
            <Suspense fallback={<Loading />}>
              <Preview artifact={open} />
            </Suspense>
          </SidePanel>
        )
      }
    >
      {failure && <FailedInline failure={failure} onRetry={read} />}
      <Table
        label="Artifacts"
        columns={columns}
        rows={value}
        getKey={({ id }) => id}
        openKey={openId}
        onOpen={({ id }) => onOpen(id)}
      />
      {value.length < job.artifacts.totalCount && (
        <p className={styles.more}>
          <Button onClick={() => setLast(last + artifactsRead)}>
            Show older artifacts ({formatCount(job.artifacts.totalCount - value.length)})
          </Button>
        </p>
      )}
    </WithPanel>
  )
}

async function readArtifacts(id: string, count: number, signal: AbortSignal): Promise<readonly Artifact[]> {
  const found: Artifact[] = []
  let before: string | null = null
  do {
    const variables: { id: string; last: number; before: string | null } = { id, last: artifactsRead, before }
    const { job } = await client.request(JobArtifactsDocument, variables, { attempts: 4, signal })
    if (!job) return found
    const { nodes, pageInfo } = job.artifacts
    found.push(...nodes.toReversed())
    before = pageInfo.hasPreviousPage ? pageInfo.startCursor : null
  } while (before !== null && found.length < count)
  return found
}

const Download = ({ artifact }: { artifact: Artifact }) => (
  <Button onClick={() => void downloadArtifact(artifact.id)}>Download</Button>
)

const columns: readonly Column<Artifact>[] = [
  { title: 'Name', cell: ({ name }) => name },
  {
    title: 'Type',
    isSecondary: true,
    cell: ({ mediaType }) => <span className={styles.faint}>{mediaType}</span>,
  },
  {
    title: 'Content',
    cell: ({ uri, sizeBytes }) =>
      uri !== null ? <Address uri={uri} /> : sizeBytes !== null && <span>{formatBytes(sizeBytes)}</span>,
  },
  { title: 'Run', isNumber: true, isSecondary: true, cell: ({ run }) => run.number },
  { title: 'Published', cell: ({ createdAt }) => <Time at={createdAt} /> },
]
