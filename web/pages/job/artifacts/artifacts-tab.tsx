import { Fragment, lazy, Suspense, useState } from 'react'
import { downloadArtifact, downloadFiles } from '../../../features/log/download.ts'
import { type JobArtifactFragment, JobArtifactsDocument } from '../../../generated/graphql.ts'
import { client } from '../../../ground/connection.ts'
import { loadPart } from '../../../ground/load-part.ts'
import { useResource } from '../../../ground/resource.ts'
import { Button } from '../../../parts/button.tsx'
import { formatBytes, formatCount, plural } from '../../../parts/format.ts'
import { Empty, Failed, FailedInline, Loading } from '../../../parts/page-states.tsx'
import { SidePanel, WithPanel } from '../../../parts/side-panel.tsx'
import { type Column, Table } from '../../../parts/table.tsx'
import { Time } from '../../../parts/time.tsx'
import type { PageJob } from '../use-job.ts'
import { Address } from './artifact-address.tsx'
import styles from './artifacts-tab.module.css'
import { type FolderRow, findFolder, listFolder } from './folder-rows.ts'

const Preview = lazy(async () => ({
  default: (await loadPart(() => import('./artifact-preview.tsx'))).ArtifactPreview,
}))

type Artifact = JobArtifactFragment

const artifactsRead = 500
const pageSize = 100

interface ArtifactsTabProps {
  job: PageJob
  openId: string | undefined
  onOpen: (id: string | undefined) => void
}

/** The artifacts of the runs: files in folders, links and texts, each with a preview. */
export function ArtifactsTab({ job, openId, onOpen }: ArtifactsTabProps) {
  const [last, setLast] = useState(artifactsRead)
  const { value, failure, read } = useResource(`artifacts ${job.id} ${job.artifacts.totalCount} ${last}`, (signal) =>
    readArtifacts(job.id, last, signal),
  )
  if (!value) return failure ? <Failed failure={failure} onRetry={read} /> : <Loading />
  if (value.length === 0)
    return (
      <Empty title="No artifacts">
        <code>berth submit --out 'results/**'</code> keeps files when a run ends. Inside a run{' '}
        <code>berth artifact put FILE</code> keeps one at once.
      </Empty>
    )
  const open = value.find(({ id }) => id === openId)
  const folder = open ? findFolder(open.name) : openId?.endsWith('/') ? openId : ''
  return (
    <WithPanel
      panel={
        open && (
          <SidePanel
            key={open.id}
            title={open.name}
            actions={open.uri === null && <Download artifact={open} />}
            onClose={() => onOpen(folder || undefined)}
          >
            <Suspense fallback={<Loading />}>
              <Preview artifact={open} />
            </Suspense>
          </SidePanel>
        )
      }
    >
      {failure && <FailedInline failure={failure} onRetry={read} />}
      <div className={styles.bar}>
        <Crumbs folder={folder} onOpen={onOpen} />
        {value.some(({ kind }) => kind === 'FILE') && (
          <Button onClick={() => void downloadFiles(job.id)}>Download all files</Button>
        )}
      </div>
      <Table
        label="Artifacts"
        columns={columns}
        rows={listFolder(value, folder)}
        getKey={({ key }) => key}
        openKey={openId}
        onOpen={({ key }) => onOpen(key)}
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

/** The path of a folder. Each part opens that folder. */
function Crumbs({ folder, onOpen }: { folder: string; onOpen: (folder: string | undefined) => void }) {
  const parts = folder.split('/').slice(0, -1)
  if (parts.length === 0) return <span className={styles.faint}>All artifacts</span>
  return (
    <nav aria-label="Folder">
      <Button look="quiet" onClick={() => onOpen(undefined)}>
        All artifacts
      </Button>
      {parts.map((part, i) => {
        const path = `${parts.slice(0, i + 1).join('/')}/`
        return (
          <Fragment key={path}>
            {' / '}
            <Button look="quiet" onClick={() => onOpen(path)}>
              {part}
            </Button>
          </Fragment>
        )
      })}
    </nav>
  )
}

async function readArtifacts(id: string, count: number, signal: AbortSignal): Promise<readonly Artifact[]> {
  const found: Artifact[] = []
  let before: string | null = null
  do {
    const variables: { id: string; last: number; before: string | null } = { id, last: pageSize, before }
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

const columns: readonly Column<FolderRow>[] = [
  {
    title: 'Name',
    cell: ({ name, artifact }) => (artifact ? name : <b>{name}/</b>),
  },
  {
    title: 'Type',
    isSecondary: true,
    cell: ({ artifact, files }) => <span className={styles.faint}>{artifact?.mediaType ?? plural(files, 'file')}</span>,
  },
  {
    title: 'Content',
    cell: ({ artifact, bytes }) =>
      artifact?.uri != null ? <Address uri={artifact.uri} /> : <span>{formatBytes(bytes)}</span>,
  },
  { title: 'Run', isNumber: true, isSecondary: true, cell: ({ newest }) => newest.run.number },
  { title: 'Published', cell: ({ newest }) => <Time at={newest.createdAt} /> },
]
